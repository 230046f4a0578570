package main

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/profile"
)

// proof is what became of programs that were run in workers.
type proof struct {
	Daemon   string         `json:"daemon"` // that had them: its socket, or "private"
	Profiles []profileProof `json:"profiles"`

	waives []string // layers that a private daemon may lack
}

// profileProof is that of one profile.
type profileProof struct {
	Profile   string              `json:"profile"`
	OK        bool                `json:"ok"`                  // a worker was jailed with all that is required here
	Isolation *sandboxd.Isolation `json:"isolation,omitempty"` // of a worker that ran a program, with what is missing; absent: none did
	Missing   []lack              `json:"missing"`             // layers that the profile requires, and the worker did not have
	Error     string              `json:"error,omitempty"`     // why no program was run
}

// lack is a layer that a worker did without.
type lack struct {
	Layer  string `json:"layer"`
	Why    string `json:"why"`
	Waived bool   `json:"waived"` // it may be missing here
}

const privateDaemon = "private"

// waives are the layers that a private daemon may lack: those of the configuration, if there is one; else, as nobody has to
// give a daemon of sandboxctl run a cgroup, that one. See privateConfig.
func (h *host) waives() []string {
	if h.configErr == nil {
		return h.config.Isolation.AllowMissing
	}
	return []string{layerCgroup}
}

// prove runs a program in a worker of each profile.
func (h *host) prove(ctx context.Context, show *progress) proof {
	p := proof{Daemon: h.socket.path}
	if h.private() {
		p.Daemon, p.waives = privateDaemon, h.waives()
	}
	for _, name := range h.wanted {
		show.say("proving the jail of profile " + name)
		var one profileProof
		switch {
		case ctx.Err() != nil:
			one = profileProof{Profile: name, Error: context.Cause(ctx).Error()}
		case h.private():
			one = h.provePrivate(ctx, name)
		default:
			one = proveWith(ctx, h.socket.client, name)
		}
		one.judge()
		p.Profiles = append(p.Profiles, one)
	}
	return p
}

// judge settles whether it will do.
func (p *profileProof) judge() {
	if p.Missing == nil {
		p.Missing = []lack{}
	}
	required := slices.ContainsFunc(p.Missing, func(l lack) bool { return !l.Waived })
	p.OK = p.Isolation != nil && p.Isolation.Verified && !required
}

// runWait bounds a run, with the birth of its worker.
const runWait = 30 * time.Second

// proveWith runs a program on a daemon that somebody else has configured.
func proveWith(ctx context.Context, client *sandboxd.Client, name string) profileProof {
	p := profileProof{Profile: name}
	isolation, err := runProgram(ctx, client, name)
	if err != nil {
		p.Error = err.Error()
		return p
	}
	p.Isolation = isolation
	for _, layer := range isolation.Missing {
		p.Missing = append(p.Missing, lack{layer, "the profile does not require it, or the daemon's configuration does without it (isolation.allow_missing)", true})
	}
	return p
}

// runProgram tells what confined the worker of a program that has run.
func runProgram(ctx context.Context, client *sandboxd.Client, name string) (*sandboxd.Isolation, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, runWait, fmt.Errorf("a program did not end within %s", runWait))
	defer cancel()
	r, err := client.Execute(ctx, sandboxd.Program{Source: "return 1", Profile: name})
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, err
	case r.Outcome != sandboxd.OutcomeOK:
		return nil, r.Error
	case string(r.Value) != "1":
		return nil, fmt.Errorf("the program \"return 1\" returned %.80s", r.Value)
	}
	return &r.Isolation, nil
}

// provePrivate starts a daemon as sandboxctl run does: in a scope, and without one where that does not come about.
func (h *host) provePrivate(ctx context.Context, name string) profileProof {
	var refused profileProof
	for _, scope := range append(scopes(), nil) {
		p := h.proveIn(ctx, scope, name)
		if p.Isolation != nil || ctx.Err() != nil {
			return p.because(refused.Error)
		}
		refused = p
	}
	return refused
}

// because adds, to why there is no cgroup, why there was no scope.
func (p profileProof) because(refused string) profileProof {
	for i := range p.Missing {
		if p.Missing[i].Layer == layerCgroup && refused != "" {
			p.Missing[i].Why += "; and no scope of systemd could be had: " + refused
		}
	}
	return p
}

// proveIn starts a daemon that must have every layer, and then ones that may lack what the one before did: each time one
// more, until it starts, or says something else.
func (h *host) proveIn(ctx context.Context, scope []string, name string) profileProof {
	p := profileProof{Profile: name}
	allowed := []string{}
	for {
		isolation, err := h.runPrivate(ctx, scope, daemonConfig(h.config.Profiles, name, allowed, "error"), name)
		layer, why := lacking(err)
		switch {
		case err == nil:
			p.Isolation = isolation
			return p
		case layer == "" || slices.Contains(allowed, layer):
			p.Error = said(err)
			return p
		}
		allowed = append(allowed, layer)
		p.Missing = append(p.Missing, lack{layer, why, slices.Contains(h.waives(), layer)})
	}
}

func (h *host) runPrivate(ctx context.Context, scope []string, config, name string) (*sandboxd.Isolation, error) {
	daemon, err := startConfigured(ctx, scope, config, rules{text: openRules}, nil)
	if err != nil {
		return nil, err
	}
	defer daemon.stop()
	client, err := sandboxd.Dial(ctx, daemon.socket, sandboxd.Options{Name: "sandboxctl", Version: version})
	if err != nil {
		return nil, err
	}
	defer client.Close()
	return runProgram(ctx, client, name)
}

// missingError is the text of a server.MissingError, which is among a daemon's last words.
var missingError = regexp.MustCompile(`requires the layer (\w+), which is not in force here: ((?s:.*)) \(sandboxctl doctor says what mends it`)

// lacking reads which layer a daemon does not start without, and why it has not got it; nothing if it is something else.
func lacking(err error) (layer, why string) {
	if err == nil {
		return "", ""
	}
	m := missingError.FindStringSubmatch(err.Error())
	if m == nil || !slices.Contains(profile.Layers, m[1]) {
		return "", ""
	}
	return m[1], m[2]
}

var goesWithoutSaying = regexp.MustCompile(`^it ended: (sandboxd: error: )?(no worker of profile "[^"]*" can be jailed here: )?`)

// said is what a daemon said when it did not start, without what goes without saying.
func said(err error) string {
	return goesWithoutSaying.ReplaceAllString(err.Error(), "")
}

// ok reports whether every profile has been proved.
func (p proof) ok() bool {
	return len(p.Profiles) > 0 && !slices.ContainsFunc(p.Profiles, func(one profileProof) bool { return !one.OK })
}

// inForce reports whether every worker was proved to have a layer.
func (p proof) inForce(layer string) bool {
	for _, one := range p.Profiles {
		if one.Isolation == nil || !one.Isolation.Verified || !has(*one.Isolation, layer) {
			return false
		}
	}
	return len(p.Profiles) > 0
}

func has(i sandboxd.Isolation, layer string) bool {
	if slices.Contains(i.Missing, layer) {
		return false
	}
	switch layer {
	case layerSeccomp:
		return strings.HasPrefix(i.Seccomp, "kill")
	case layerLandlock:
		return i.Landlock > 0
	case layerRlimits:
		return len(i.Rlimits) > 0
	case layerCgroup:
		return i.Cgroup != "off"
	case layerNamespaces:
		return !slices.ContainsFunc(wall, func(kind string) bool { return !slices.Contains(i.Namespaces, kind) })
	}
	return false
}

// wall are the namespaces without which the layer is missing, as the nursery judges it.
var wall = []string{"ipc", "mnt", "net"}

// waived reports whether a layer may be missing here. Nothing that is required is, where a proof has come out well.
func (p proof) waived(layer string) bool {
	return p.ok() || p.Daemon == privateDaemon && slices.Contains(p.waives, layer)
}
