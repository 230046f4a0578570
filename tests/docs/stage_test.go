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
		"sandboxctl.1.md":       {`% "SANDBOXCTL" "1" "2023-11-14" "sandboxd 1.2.3" "sandboxd"` + "\n# NAME\nsandboxctl \\- ", "\n## sandboxctl policy explain\n```\n", "\n# FILES\n"},
		"sandboxd.8.md":         {"\n# OPTIONS\n```\n  -admin PATH\n", "\n# SIGNALS\n"},
		"sandboxd.yaml.5.md":    {read(t, "packaging/sandboxd.yaml")},
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
	policy := staged("sandboxd-policy.5.md")
	for row := range strings.Lines(read(t, "docs/policy.md")) {
		first, found := strings.CutPrefix(row, "| `")
		if name, _, _ := strings.Cut(first, "`"); found && !strings.Contains(policy, "\n`"+strings.ReplaceAll(name, `\|`, "|")+"`") {
			t.Errorf("sandboxd-policy(5) lacks the row %q", row)
		}
	}
	if strings.Contains(policy, "\n|") {
		t.Error("sandboxd-policy(5) has a table: a terminal is too narrow for it")
	}
}

var placeholder = regexp.MustCompile(`[A-Z]+-HERE|\x00`)
