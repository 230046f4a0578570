// Command stage prepares what a package has beside the binaries: man pages as Markdown (go-md2man makes pages of them),
// completions, the configuration, changelogs and licences. It is run in the root of the repository, by make.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// release is what of a package differs from one commit to the next.
type release struct {
	version string
	date    time.Time // of the commit, so that a package can be built again
	bin     string    // directory of the binaries for this machine
}

func main() {
	var r release
	out := flag.String("out", "", "write into this `directory`")
	epoch := flag.Int64("date", 0, "of the commit, in `seconds` of 1970")
	flag.StringVar(&r.version, "version", "", "of the package")
	flag.StringVar(&r.bin, "bin", "", "`directory` of sandboxctl and sandboxd, which are asked for their help")
	flag.Parse()
	r.date = time.Unix(*epoch, 0).UTC()
	if err := r.stage(*out); err != nil {
		fmt.Fprintln(os.Stderr, "stage:", err)
		os.Exit(1)
	}
}

// stage writes all files into a directory that exists.
func (r release) stage(out string) error {
	for _, file := range []struct {
		name string
		text func() (string, error)
	}{
		{"sandboxd.yaml", packaged},
		{"changelog.Debian", r.changelog},
		{"THIRD-PARTY", licences},
		{"completion.bash", r.completion("bash")},
		{"completion.zsh", r.completion("zsh")},
		{"completion.fish", r.completion("fish")},
		{"sandboxctl.1.md", r.sandboxctl},
		{"sandboxd.8.md", r.sandboxd},
		{"sandboxd.yaml.5.md", r.configuration},
		{"sandboxd-policy.5.md", r.policy},
		{"sandboxd-profile.5.md", r.profile},
	} {
		text, err := file.text()
		if err == nil {
			err = os.WriteFile(filepath.Join(out, file.name), []byte(text), 0o644)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", file.name, err)
		}
	}
	return nil
}

// completion is a shell's.
func (r release) completion(shell string) func() (string, error) {
	return func() (string, error) {
		text, err := output(filepath.Join(r.bin, "sandboxctl"), "completion", shell)
		return text + "\n", err
	}
}

// packaged is packaging/sandboxd.yaml with the groups that sysusers.d makes: as it stands, it serves nobody but the daemon's user.
func packaged() (string, error) {
	text, err := os.ReadFile("packaging/sandboxd.yaml")
	if err != nil {
		return "", err
	}
	own := string(text)
	for key, group := range map[string]string{"callers": "sandboxd", "admins": "sandboxd-admin"} {
		section := "\n" + key + ":\n  uids: []\n  gids: ["
		if !strings.Contains(own, section+"]\n") {
			return "", fmt.Errorf("packaging/sandboxd.yaml has no section %q with empty lists", key)
		}
		own = strings.Replace(own, section+"]\n", section+group+"]\n", 1)
	}
	return own, nil
}

const maintainer = "sandboxd maintainers <sandboxd@users.noreply.github.com>"

// changelog is Debian's, of this one release: CHANGELOG.md has the changes.
func (r release) changelog() (string, error) {
	return fmt.Sprintf("sandboxd (%s-1) unstable; urgency=medium\n\n  * What has changed is in changelog.gz.\n\n -- %s  %s\n",
		r.version, maintainer, r.date.Format(time.RFC1123Z)), nil
}
