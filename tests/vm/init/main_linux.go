// Command init is PID 1 of a machine without a userland: it runs the command of /init.json, leaves results as
// tests/vm/machine wants them, and powers off.
package main

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"github.com/sandboxd/sandboxd/tests/vm/machine"
)

func main() {
	if err := run(); err != nil {
		fmt.Println("init:", err)
	}
	// It returns only if it fails. PID 1 ends then, and the kernel panics for all to see.
	fmt.Println("init: power off:", syscall.Reboot(syscall.LINUX_REBOOT_CMD_POWER_OFF))
}

func run() error {
	if err := leaveRootfs(); err != nil {
		return err
	}
	for _, m := range []struct{ kind, at, data string }{
		{"devtmpfs", "/dev", ""},
		{"proc", "/proc", ""},
		{"sysfs", "/sys", ""},
		{"tmpfs", "/tmp", "mode=1777"},
		{"tmpfs", "/results", "mode=1777"},
	} {
		if err := errors.Join(os.MkdirAll(m.at, 0o755), syscall.Mount(m.kind, m.at, m.kind, 0, m.data)); err != nil {
			return fmt.Errorf("mount %s: %w", m.at, err)
		}
	}
	text, err := os.ReadFile("/init.json")
	if err != nil {
		return err
	}
	var c machine.Command
	if err := json.Unmarshal(text, &c); err != nil {
		return fmt.Errorf("/init.json: %w", err)
	}
	fmt.Println(machine.StartLine)
	rc, err := execute(c)
	if err != nil {
		return err
	}
	if err := os.WriteFile("/results/rc", []byte(strconv.Itoa(rc)), 0o644); err != nil {
		return err
	}
	return leave("/results")
}

// leaveRootfs makes the root a mount that has a parent, as it is on any other system: pivot_root(2) refuses the first one.
func leaveRootfs() error {
	const at = "/rootfs"
	for _, step := range []func() error{
		func() error { return os.Mkdir(at, 0o755) },
		func() error { return syscall.Mount("/", at, "", syscall.MS_BIND, "") },
		func() error { return os.Chdir(at) },
		func() error { return syscall.Mount(".", "/", "", syscall.MS_MOVE, "") },
		func() error { return syscall.Chroot(".") },
	} {
		if err := step(); err != nil {
			return fmt.Errorf("leave rootfs: %w", err)
		}
	}
	return nil
}

// execute returns the command's exit code, -1 if a signal ended it.
func execute(c machine.Command) (int, error) {
	log, err := os.Create("/results/log")
	if err != nil {
		return 0, err
	}
	defer log.Close()
	command := exec.Command(c.Args[0], c.Args[1:]...)
	command.Dir, command.Env = c.Dir, c.Env
	command.Stdout = io.MultiWriter(log, os.Stdout)
	command.Stderr = command.Stdout
	command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: c.UID, Gid: c.UID}}
	var exit *exec.ExitError
	if err := command.Run(); err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	return command.ProcessState.ExitCode(), nil
}

// leave writes a directory to the disk for results.
func leave(dir string) error {
	disk, err := os.OpenFile("/dev/nvme0n1", os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(disk)
	return errors.Join(archive.AddFS(os.DirFS(dir)), archive.Close(), disk.Sync(), disk.Close())
}
