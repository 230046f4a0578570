package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/audit"
	"github.com/sandboxd/sandboxd/internal/config"
	"github.com/sandboxd/sandboxd/internal/guard"
	"github.com/sandboxd/sandboxd/internal/jail"
	"github.com/sandboxd/sandboxd/internal/metrics"
	"github.com/sandboxd/sandboxd/internal/nursery"
	"github.com/sandboxd/sandboxd/internal/policy"
	"github.com/sandboxd/sandboxd/internal/pool"
	"github.com/sandboxd/sandboxd/internal/profile"
	"github.com/sandboxd/sandboxd/internal/redact"
	"github.com/sandboxd/sandboxd/internal/server"
	"github.com/sandboxd/sandboxd/internal/systemd"
	"github.com/sandboxd/sandboxd/internal/traces"
)

// run is the daemon from its command line to its end.
func run(ctx context.Context, args []string, stderr io.Writer) error {
	// From the start to the end of the process: else a reload that is asked for then ends it, and what it still has to write is lost.
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	c := config.Default()
	if o.config != "" {
		if c, err = config.Load(o.config); err != nil {
			return err
		}
	}
	log := newLog(stderr, c.Log.Level)
	profiles, err := profile.Load(c.Profiles)
	if err != nil {
		return err
	}
	if err := c.CheckPool(profiles); err != nil {
		return err
	}
	warn(profiles, log)
	if o.nursery != "" { // then it starts nothing itself
		if err := jail.ForbidExec(); err != nil {
			return err
		}
	}
	sockets, err := listen(o, c.Metrics)
	if err != nil {
		return err
	}
	defer sockets.close()
	nursery, err := newNursery(o)
	if err != nil {
		return err
	}
	defer nursery.Close()
	rules, err := policy.Load(c.Policy)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return c.Wrong(fmt.Errorf("policy: %w: without a policy no call is allowed; name one in the configuration, policy: FILE (docs/policy.md)", err))
	case err != nil:
		return c.Wrong(fmt.Errorf("policy: %w", err))
	}
	judge, err := newGuard(c)
	if err != nil {
		return err
	}
	if judge != nil {
		defer judge.Close()
	}
	log.Info("configuration", "files", c.Files())
	proved, err := prove(ctx, nursery, c, profiles, log)
	if err != nil {
		return err
	}
	var counts *metrics.Metrics
	if sockets.metrics != nil {
		counts = metrics.New(profile.Names(profiles))
	}
	spans, err := newTraces(c, log)
	if err != nil {
		return err
	}
	record, err := openAudit(c.Audit, counts, log)
	if err != nil {
		return err
	}
	if record != nil {
		defer keepAudit(record, log)()
	}
	return serve(ctx, server.Parts{
		Config: c, Profiles: profiles, Proved: proved, Policy: rules, Guard: judge, Audit: record, Metrics: counts, Traces: spans, Version: version, Log: log,
	}, sockets, nursery, hangups)
}

// newGuard is the client of the configured judge; nil: there is none.
func newGuard(c config.Config) (*guard.Guard, error) {
	if c.Guard.URL == "" {
		return nil, nil
	}
	g, err := guard.New(c.Guard)
	if err != nil {
		return nil, c.Wrong(fmt.Errorf("guard.%w", err))
	}
	return g, nil
}

// newTraces sends spans to the configured collector; nil: there is none.
func newTraces(c config.Config, log *slog.Logger) (*traces.Traces, error) {
	if c.Traces.Endpoint == "" {
		return nil, nil
	}
	t, err := traces.New(c.Traces, version, log)
	if err != nil {
		return nil, c.Wrong(fmt.Errorf("traces.%w", err))
	}
	return t, nil
}

// openAudit continues the audit log; nil: there is none.
func openAudit(c audit.Config, counts *metrics.Metrics, log *slog.Logger) (*audit.Log, error) {
	if c.Path == config.NoAudit {
		log.Warn("no audit log: nothing of what programs do is recorded (audit.path: none)")
		return nil, nil
	}
	l, err := audit.Open(c, audit.Options{Journal: systemd.Journal(), Synced: counts.Synced, Redact: func(payload []byte) []byte {
		clean, _ := redact.Default().JSON(payload)
		return clean
	}})
	if err != nil {
		return nil, err
	}
	if err := l.Append(context.Background(), audit.DaemonStart{Version: version, PID: os.Getpid()}); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// keepAudit has the journal told what is recorded, until the function that it returns has closed the log.
func keepAudit(l *audit.Log, log *slog.Logger) (closeAudit func()) {
	ctx, end := context.WithCancel(context.Background())
	told := make(chan struct{})
	go func() { l.Run(ctx); close(told) }()
	return func() {
		if err := errors.Join(l.Append(ctx, audit.DaemonStop{}), l.Close()); err != nil {
			log.Error("audit log not closed", "error", err)
		}
		end()
		select {
		case <-told:
		case <-time.After(journalWait):
		}
	}
}

// journalWait bounds how long a journal that takes nothing may keep the daemon from ending: the file has all.
const journalWait = 2 * time.Second

// warn tells what the operator's own profiles open.
func warn(profiles map[string]profile.Profile, log *slog.Logger) {
	for _, name := range profile.Names(profiles) {
		for _, o := range profiles[name].Openings {
			log.Warn("profile is wider than the built-in one", "profile", name, "source", profiles[name].Source,
				"key", o.Key, "from", o.From, "to", o.To, "opens", o.Opens)
		}
	}
}

func newLog(stderr io.Writer, level string) *slog.Logger {
	var l slog.Level
	// The configuration was checked: the level is one of slog's.
	_ = l.UnmarshalText([]byte(level))
	return slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: l}))
}

func newNursery(o options) (*nursery.Client, error) {
	if o.nursery != "" {
		return nursery.NewClient(nursery.Dial(o.nursery)), nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find own path: %w", err)
	}
	path := filepath.Join(filepath.Dir(self), "sandbox-nursery")
	if _, err := os.Stat(path); err != nil { // where its unit has it, in a root directory of its own
		path = filepath.Join(filepath.Dir(self), "root", "bin", "sandbox-nursery")
	}
	return nursery.NewClient(nursery.Start(path, os.Stderr, o.delegated)), nil
}

// prove starts one worker of the default profile, and of each other one that the pool keeps, and refuses to serve if its
// jail lacks something. The others are proved by each of their runs.
func prove(ctx context.Context, n *nursery.Client, c config.Config, profiles map[string]profile.Profile,
	log *slog.Logger) (map[string]*sandboxd.Isolation, error) {
	proved := make(map[string]*sandboxd.Isolation)
	for _, name := range profile.Names(profiles) {
		if c.Pool[name] == 0 && name != profile.Default {
			continue
		}
		p := profiles[name]
		w, err := n.Spawn(ctx, spec(p))
		if err != nil {
			return nil, fmt.Errorf("no worker of profile %q can be jailed here: %w", name, err)
		}
		layers, err := server.Isolation(w.Report, w.Layers, p, c.Isolation.AllowMissing)
		if _, buried := w.Bury(); err == nil {
			err = buried
		}
		if err != nil {
			return nil, err
		}
		proved[name] = &layers
		log.Info("jail proved", "profile", name, "seccomp", layers.Seccomp, "landlock", layers.Landlock,
			"cgroup", layers.Cgroup, "namespaces", layers.Namespaces, "missing", layers.Missing)
	}
	return proved, nil
}

// spec is what the workers of a profile are confined by.
func spec(p profile.Profile) nursery.Spec {
	return nursery.Spec{Jail: p.Spec(), CPUs: p.Jail.CPUs, PIDs: p.Jail.PIDs}
}

func serve(ctx context.Context, parts server.Parts, l sockets, n *nursery.Client, hangups <-chan os.Signal) error {
	var kinds []pool.Kind
	for _, name := range profile.Names(parts.Profiles) {
		kinds = append(kinds, pool.Kind{Name: name, Spec: spec(parts.Profiles[name]), Size: parts.Config.Pool[name]})
	}
	log := parts.Log
	parts.Pool = pool.New(n.Spawn, kinds, births(), log)
	parts.Pool.Metrics = parts.Metrics
	s, err := server.New(parts)
	if err != nil {
		return err
	}
	filling, empty := context.WithCancel(context.WithoutCancel(ctx)) // programs that run on during a drain need no more
	served, end := context.WithCancel(context.WithoutCancel(ctx))    // programs that run on during a drain may wait for an approval
	defer end()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var background sync.WaitGroup
	background.Go(func() { parts.Pool.Run(filling) })
	background.Go(func() {
		<-ctx.Done()
		_ = systemd.Stopping() // nobody is left to tell of an error
	})
	background.Go(func() { tell(served, parts.Config, s, stop) })
	background.Go(func() { reload(ctx, s, hangups, log) })
	if l.Admin != nil {
		background.Go(func() {
			if err := s.ServeAdmin(served, l.Admin); err != nil {
				log.Error("administrators are not served any more", "error", err)
				stop()
			}
		})
	}
	if parts.Traces != nil {
		background.Go(func() { parts.Traces.Run(served) })
	}
	if l.metrics != nil {
		background.Go(func() {
			if err := parts.Metrics.Serve(served, l.metrics, s.Measure, log); err != nil {
				log.Error("nobody can ask for metrics any more", "error", err)
			}
		})
	}
	if err := systemd.Ready(); err != nil {
		log.Warn("service manager not told", "error", err)
	}
	admin, told := l.others()
	log.Info("serving", "socket", l.Client.Addr().String(), "admin", admin, "metrics", told, "version", version)
	err = s.Serve(ctx, l.Client)
	end()
	stop()
	empty()
	background.Wait()
	log.Info("stopped")
	return err
}

// reload reads the policy again on SIGHUP.
func reload(ctx context.Context, s *server.Server, hangups <-chan os.Signal, log *slog.Logger) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangups:
		}
		_ = systemd.Reloading() // like Ready: who does not hear it does not wait for it
		if err := s.Reload(ctx, nil); err != nil {
			log.Error("not reloaded: all stays as it was", "error", err)
		}
		_ = systemd.Ready()
	}
}

// births is how many workers may be under way to READY at once: half of the time each waits for its threads.
func births() int { return 2 * runtime.NumCPU() }

// tell keeps the service manager's status line true, and ends the daemon when it has been idle for long enough. It says that the
// daemon lives until nothing is served any more, a drain included, and only after taking the locks that each run takes: where one is never
// given back, nothing is said, and the service manager's watchdog bites.
func tell(served context.Context, c config.Config, s *server.Server, stop context.CancelFunc) {
	tick := time.NewTicker(tellEvery)
	defer tick.Stop()
	last := ""
	for {
		select {
		case <-served.Done():
			return
		case <-tick.C:
		}
		line, idle := s.Line(), s.Idle()
		_ = systemd.Alive()
		if line != last {
			last = line
			_ = systemd.Status("%s", line) // the next one comes soon
		}
		if c.IdleExit > 0 && idle >= c.IdleExit {
			stop()
		}
	}
}

const tellEvery = time.Second
