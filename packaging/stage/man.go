package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// page is a man page in go-md2man's Markdown.
func (r release) page(name, section, what, body string) string {
	return fmt.Sprintf("%% %q %q %q %q %q\n# NAME\n%s \\- %s\n\n%s", strings.ToUpper(name), section, r.date.Format("2006-01-02"),
		"sandboxd "+r.version, "sandboxd", name, what, body)
}

// sandboxctl is the help of all commands, as they print it.
func (r release) sandboxctl() (string, error) {
	commands, err := r.help("sandboxctl", nil)
	if err != nil {
		return "", err
	}
	head, err := os.ReadFile("packaging/man/sandboxctl.md")
	return r.page("sandboxctl", "1", "run model-written programs in sandboxd, and look after it",
		strings.Replace(string(head), "COMMANDS-HERE\n", commands, 1)), err
}

// listed is a command in the list of another's help.
var listed = regexp.MustCompile(`(?m)^  (\w[\w-]*) +\S.*$`)

// help is a section for a command, and one for each below it. Those that cobra adds are left out.
func (r release) help(name string, path []string) (string, error) {
	text, err := output(filepath.Join(r.bin, "sandboxctl"), append(path, "--help")...)
	if err != nil {
		return "", err
	}
	section := fmt.Sprintf("## %s\n```\n%s\n```\n\n", name, text)
	_, list, _ := strings.Cut(text, "\nAvailable Commands:\n")
	list, _, _ = strings.Cut(list, "\n\n")
	for _, m := range listed.FindAllStringSubmatch(list, -1) {
		if m[1] == "help" || m[1] == "completion" {
			continue
		}
		below, err := r.help(name+" "+m[1], append(path[:len(path):len(path)], m[1]))
		if err != nil {
			return "", err
		}
		section += below
	}
	return section, nil
}

// sandboxd has the options as the daemon prints them.
func (r release) sandboxd() (string, error) {
	options, err := output("sh", "-c", `exec "$0" --help 2>&1`, filepath.Join(r.bin, "sandboxd"))
	if err != nil {
		return "", err
	}
	_, options, _ = strings.Cut(options, "\n")
	text, err := os.ReadFile("packaging/man/sandboxd.md")
	return r.page("sandboxd", "8", "run model-written programs in jailed workers",
		strings.Replace(string(text), "OPTIONS-HERE\n", "```\n"+options+"\n```\n", 1)), err
}

func (r release) configuration() (string, error) {
	return r.document("docs/configuration.md", "sandboxd.yaml", "configuration of sandboxd",
		"**/etc/sandboxd/sandboxd.yaml**\n\n**/etc/sandboxd/sandboxd.yaml.d/NAME.yaml**", "**sandboxd-policy**(5), **sandboxd-profile**(5)")
}

func (r release) policy() (string, error) {
	return r.document("docs/policy.md", "sandboxd-policy", "which tool calls of programs happen", "**/etc/sandboxd/policy.yaml**", "**sandboxd.yaml**(5)")
}

func (r release) profile() (string, error) {
	return r.document("docs/profiles.md", "sandboxd-profile", "limits and jail of a run", "**/etc/sandboxd/profiles/NAME.yaml**", "**sandboxd.yaml**(5)")
}

var (
	heading  = regexp.MustCompile(`(?m)^##(#*) (.+)$`)
	relative = regexp.MustCompile(`\[([^\]]+)\]\((?:[^):]*)\)`) // links into the repository
)

// document is a page of docs/, of what stands in a file. Its first heading makes way for the name, and its sections for those of man pages.
func (r release) document(path, name, what, file, also string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	_, body, found := strings.Cut(string(text), "\n\n")
	if !found || !strings.HasPrefix(string(text), "# ") {
		return "", fmt.Errorf("%s does not begin with a heading", path)
	}
	body = heading.ReplaceAllString(body, "#$1 $2")
	body = relative.ReplaceAllString(body, "$1")
	body = table.ReplaceAllStringFunc(body, entries)
	return r.page(name, "5", what, "# SYNOPSIS\n"+file+"\n\n# DESCRIPTION\n"+body+
		"\n# SEE ALSO\n**sandboxctl**(1), "+also+", **sandboxd**(8)\n"), nil
}

var table = regexp.MustCompile(`(?m)(?:^\|.*\|\n)+`)

// entries makes of a table, which a terminal is too narrow for, a paragraph for each row.
func entries(rows string) string {
	var b strings.Builder
	var headings []string
	for i, row := range strings.Split(strings.TrimSpace(rows), "\n") {
		cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(strings.ReplaceAll(row, `\|`, bar), "|"), "|"), "|")
		if i == 0 {
			headings = cells
		}
		if i < 2 || len(cells) != len(headings) { // 1 is the line below the headings
			continue
		}
		var told []string
		for j, cell := range cells[1:] {
			text := strings.TrimSpace(cell)
			if text == "" {
				continue
			}
			if name := strings.TrimSpace(headings[1+j]); len(cells) > 2 && name != "" {
				text = name + ": " + text
			}
			told = append(told, text)
		}
		fmt.Fprintf(&b, "%s\n: %s\n\n", strings.TrimSpace(cells[0]), strings.Join(told, "; "))
	}
	return strings.ReplaceAll(b.String(), bar, "|")
}

const bar = "\x00" // a | that is text
