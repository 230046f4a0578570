package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/sandboxd/sandboxd/internal/config"
	"github.com/sandboxd/sandboxd/internal/profile"
)

// private is a daemon for one sandboxctl. It listens in a directory that only this user can enter, and ends by
// itself when nobody is connected any more, so that it can't outlive a killed sandboxctl.
type private struct {
	dir     string
	socket  string // administrators' is adminSocketOf it
	command *exec.Cmd
	stderr  *tail
	exited  chan struct{}
}

// ended reports whether it has, or was stopped.
func (p *private) ended() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// startWait bounds the start, in which a worker is born and proved.
const startWait = 20 * time.Second

// startPrivate starts one as the options want it.
func startPrivate(ctx context.Context, o daemonOptions) (*private, error) {
	var log io.Writer
	if o.verbose {
		log = os.Stderr
	}
	// A scope can fail to come about for many reasons, such as no session, which are not worth telling apart.
	var err error
	for _, scope := range append(scopes(), nil) {
		var p *private
		if p, err = startConfigured(ctx, scope, privateConfig(o), rules{o.policy, o.rules}, log); err == nil || ctx.Err() != nil {
			return p, err
		}
	}
	return nil, err
}

// rules are the policy of a private daemon: at a path, else as text.
type rules struct{ path, text string }

// startConfigured starts a private daemon with a configuration and a policy, by a command that is one of scopes, or empty. What it
// writes goes to log as well, unless that is nil.
func startConfigured(ctx context.Context, scope []string, config string, policy rules, log io.Writer) (*private, error) {
	binary, err := findDaemon()
	if err != nil {
		return nil, err
	}
	dir, err := shortTempDir()
	if err != nil {
		return nil, fmt.Errorf("make its directory: %w", err)
	}
	p := &private{dir: dir, socket: filepath.Join(dir, "sandboxd.sock"), stderr: &tail{}, exited: make(chan struct{})}
	command := append(slices.Clone(scope), binary)
	if scope != nil {
		command = append(command, "--delegated") // it is: see scopes
	}
	if err := p.launch(ctx, command, config, policy, log); err != nil {
		p.stop()
		return nil, err
	}
	return p, nil
}

// launch starts the daemon by a command, and waits until it is ready.
func (p *private) launch(ctx context.Context, command []string, config string, policy rules, log io.Writer) error {
	file, text := filepath.Join(p.dir, "sandboxd.yaml"), filepath.Join(p.dir, "policy.yaml")
	config += "policy: " + strconv.Quote(cmp.Or(policy.path, text)) + "\n"
	if err := errors.Join(os.WriteFile(file, []byte(config), 0o600), os.WriteFile(text, []byte(policy.text), 0o600)); err != nil {
		return fmt.Errorf("write its configuration: %w", err)
	}
	told := &net.UnixAddr{Name: filepath.Join(p.dir, "notify"), Net: "unixgram"}
	ready, err := net.ListenUnixgram("unixgram", told)
	if err != nil {
		return fmt.Errorf("listen for its READY: %w", err)
	}
	defer ready.Close()
	p.command = exec.Command(command[0], append(command[1:], "--listen", p.socket, "--admin", adminSocketOf(p.socket), "--config", file)...)
	p.command.Env = []string{"NOTIFY_SOCKET=" + told.Name}                         // a person's environment has keys, and a daemon needs none
	for _, name := range []string{"XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"} { // where systemd-run finds the service manager
		if value, ok := os.LookupEnv(name); ok {
			p.command.Env = append(p.command.Env, name+"="+value)
		}
	}
	p.command.Stderr = p.stderr
	if log != nil {
		p.command.Stderr = io.MultiWriter(p.stderr, log)
	}
	p.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a ^C is ours to pass on
	if err := p.command.Start(); err != nil {
		return fmt.Errorf("start %s: %w", command[0], err)
	}
	go func() {
		_ = p.command.Wait() // why it ended is in what it wrote
		close(p.exited)
		ready.Close()
	}()
	return p.awaitReady(ctx, ready)
}

// scopes are commands that start another one in a cgroup that it may divide: systemd's, where it runs.
func scopes() [][]string {
	manager, options := "/run/systemd/private", []string{"--scope"}
	if os.Geteuid() != 0 {
		manager, options = filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "systemd/private"), []string{"--user", "--scope"}
	}
	if _, err := os.Stat(manager); err != nil {
		return nil
	}
	run, err := exec.LookPath("systemd-run")
	if err != nil {
		return nil
	}
	return [][]string{slices.Concat([]string{run}, options, []string{"--quiet", "--collect", "--property=Delegate=cpu memory pids", "--"})}
}

// maxDir keeps the path of a socket in a directory within the 107 bytes that unix(7) allows.
const maxDir = 80

// shortTempDir makes a directory that only this user can enter, where a socket can be.
func shortTempDir() (string, error) {
	var errs []error
	for _, parent := range []string{os.Getenv("XDG_RUNTIME_DIR"), os.TempDir(), "/tmp"} {
		if parent == "" || len(parent) > maxDir {
			continue
		}
		dir, err := os.MkdirTemp(parent, "sandboxd-")
		if err == nil {
			return dir, nil
		}
		errs = append(errs, err)
	}
	return "", errors.Join(errs...)
}

// findDaemon looks beside this binary, and where a package puts it.
func findDaemon() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find own path: %w", err)
	}
	here := filepath.Dir(self)
	tried := []string{filepath.Join(here, "sandboxd"), filepath.Join(here, "..", "lib", "sandboxd", "sandboxd")}
	for _, path := range tried {
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", hinted{fmt.Errorf("there is no sandboxd at %s", strings.Join(tried, " or ")), "make build puts the four binaries beside each other"}
}

// adminSocketOf is the socket for administrators of the private daemon with that one for gateways.
func adminSocketOf(socket string) string { return filepath.Join(filepath.Dir(socket), "admin.sock") }

// privateConfig is what run wants of it: nobody has to give it a cgroup.
func privateConfig(o daemonOptions) string {
	level := "error"
	if o.verbose {
		level = "debug"
	}
	return daemonConfig(config.Default().Profiles, cmp.Or(o.profile, profile.Default), []string{layerCgroup}, level)
}

// openRules are those of a daemon whose only user sits in front of it, and wrote or chose the program.
const openRules = "version: 1\nunknown: allow\n"

// askingRules are those of the packaged policy: each call must be approved by somebody.
const askingRules = "version: 1\nunknown: ask\n"

// daemonConfig is that of a private daemon which keeps a worker of one profile, and may lack the layers.
func daemonConfig(profiles, name string, layers []string, level string) string {
	pool := `"default": 0, ` + strconv.Quote(name) + ": 1"
	if name == profile.Default {
		pool = `"default": 1`
	}
	return fmt.Sprintf("profiles: %s\npool: {%s}\nidle_exit: 2s\ndrain: 0s\nisolation: {allow_missing: [%s]}\nlog: {level: %s}\naudit: {path: none}\n",
		strconv.Quote(profiles), pool, strings.Join(layers, ", "), level)
}

// awaitReady waits for sd_notify's READY=1.
func (p *private) awaitReady(ctx context.Context, ready *net.UnixConn) error {
	if err := ready.SetReadDeadline(time.Now().Add(startWait)); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { ready.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	message := make([]byte, 4096)
	for {
		n, err := ready.Read(message)
		switch {
		case err == nil && bytes.Contains(message[:n], []byte("READY=1")):
			return nil
		case err == nil:
			continue
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, net.ErrClosed):
			<-p.exited
			return fmt.Errorf("it ended: %s", p.stderr)
		}
		return fmt.Errorf("it was not ready within %s: %s", startWait, p.stderr)
	}
}

// stopWait is how long it gets to end by itself.
const stopWait = 3 * time.Second

// stop ends the daemon, and with it all that it started.
func (p *private) stop() {
	defer os.RemoveAll(p.dir)
	if p.command == nil || p.command.Process == nil {
		return
	}
	// Errors mean that it has ended already.
	_ = p.command.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.exited:
	case <-time.After(stopWait):
		_ = p.command.Process.Kill()
		<-p.exited
	}
}

// tail keeps the end of what a process writes.
type tail struct {
	mu   sync.Mutex // guards the field below
	text []byte
}

const maxTail = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-maxTail):]
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if text := strings.TrimSpace(string(t.text)); text != "" {
		return text
	}
	return "it said nothing"
}
