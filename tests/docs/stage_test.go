package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sandboxd/sandboxd/tests/daemon"
)

// TestStage makes what packages have of the documentation: man pages of docs/ and of the commands' help, and the configuration. The pages
// themselves, and the packages, are looked at by make check-packages.
func TestStage(t *testing.T) {
	out := t.TempDir()
	command := exec.CommandContext(t.Context(), "go", "run", "./packaging/stage", "-out", out, "-bin", daemon.Binaries(t), "-version", "1.2.3", "-date", "1700000000")
	command.Dir = root
	if said, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	staged := func(name string) string {
		text, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for name, want := range map[string][]string{
		"sandboxd.yaml":         {"\ncallers:\n  uids: []\n  gids: [sandboxd]\n", "\nadmins:\n  uids: []\n  gids: [sandboxd-admin]\n"},
		"changelog.Debian":      {"sandboxd (1.2.3-1) ", "  Tue, 14 Nov 2023 22:13:20 +0000\n"},
		"THIRD-PARTY":           {"\ngithub.com/dop251/goja v", "\nGo's standard library and runtime: LICENSE\n", "\nrules of gitleaks: LICENSE.gitleaks\n"},
		"completion.bash":       {"complete -o default -F __start_sandboxctl sandboxctl"},
		"completion.zsh":        {"#compdef sandboxctl\n"},
		"completion.fish":       {"complete -c sandboxctl"},
		"sandboxctl.1.md":       {`% "SANDBOXCTL" "1" "2023-11-14" "sandboxd 1.2.3" "sandboxd"` + "\n# NAME\nsandboxctl \\- ", "\n## sandboxctl policy explain\n```\n", "\n## sandboxctl runs show\n", "\n## sandboxctl top\n", "\n**NO_COLOR**\n", "\n# FILES\n"},
		"sandboxd.8.md":         {"\n# OPTIONS\n```\n  -admin PATH\n", "\n# SIGNALS\n"},
		"sandboxd.yaml.5.md":    {"\n# DESCRIPTION\n", "\n**/etc/sandboxd/sandboxd.yaml.d/NAME.yaml**\n", "\n`audit.keep.files`\n: type: number; default: `1000`; bounds: 0 to 100000; "},
		"sandboxd-policy.5.md":  {"\n# DESCRIPTION\n", "\n# Limits\n", "\n`calls_per_run`\n: counts: "},
		"sandboxd-profile.5.md": {"\n# DESCRIPTION\n", "\n# SEE ALSO\n"},
	} {
		text := staged(name)
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s lacks %q", name, w)
			}
		}
		if left := placeholder.FindString(text); left != "" {
			t.Errorf("%s has %s", name, left)
		}
	}
	// What a table says is there, though a man page has none.
	for name, source := range map[string]string{
		"sandboxd-policy.5.md": "docs/policy.md", "sandboxd-profile.5.md": "docs/profiles.md", "sandboxd.yaml.5.md": "docs/configuration.md",
	} {
		page := staged(name)
		for row := range strings.Lines(read(t, source)) {
			first, found := strings.CutPrefix(row, "| `")
			if key, _, _ := strings.Cut(first, "`"); found && !strings.Contains(page, "\n`"+strings.ReplaceAll(key, `\|`, "|")+"`") {
				t.Errorf("%s lacks the row %q", name, row)
			}
		}
		if strings.Contains(page, "\n|") {
			t.Errorf("%s has a table: a terminal is too narrow for it", name)
		}
	}
}

var placeholder = regexp.MustCompile(`[A-Z]+-HERE|\x00`)
