package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/sandboxd/sandboxd"
)

// print shows a result: the value on standard output, all else on standard error.
func print(r *sandboxd.Result, output string) error {
	if output == "json" {
		text, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return fmt.Errorf("print result: %w", err)
		}
		if _, err := fmt.Println(string(text)); err != nil {
			return fmt.Errorf("print result: %w", err)
		}
		return failure(r)
	}
	printConsole(os.Stderr, r)
	if r.Outcome == sandboxd.OutcomeOK {
		if _, err := fmt.Println(shown(readable(r.Value))); err != nil {
			return fmt.Errorf("print result: %w", err)
		}
		if r.Hint != "" {
			fmt.Fprintln(os.Stderr, "hint:", visible(r.Hint))
		}
		printCalls(os.Stderr, r)
		return nil
	}
	printError(os.Stderr, r.Error)
	printCalls(os.Stderr, r)
	return failure(r)
}

// shown keeps a value from steering a terminal; a pipe gets it as it is.
func shown(text string) string {
	if term.IsTerminal(int(os.Stdout.Fd())) {
		return visible(text)
	}
	return text
}

// readable is a string as it is, and any other value as indented JSON.
func readable(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil && len(value) > 0 && value[0] == '"' {
		return text
	}
	var out bytes.Buffer
	if json.Indent(&out, value, "", "  ") != nil {
		return string(value)
	}
	return out.String()
}

func printConsole(w io.Writer, r *sandboxd.Result) {
	for _, l := range r.Console {
		fmt.Fprintf(w, "[%s] %s\n", l.Level, visible(l.Text))
	}
	if t := r.Truncated; t.ConsoleBytes > 0 || t.ConsoleLines > 0 {
		fmt.Fprintf(w, "[…] %d bytes of console text are over the limit and left out\n", t.ConsoleBytes)
	}
}

func printError(w io.Writer, e *sandboxd.Error) {
	text := e.Error()
	if e.Kind == sandboxd.OutcomeError { // its message says what kind of error
		text = strings.TrimPrefix(text, "error: ")
	}
	fmt.Fprintln(w, "sandboxctl: error:", visible(text))
	if e.Frame != "" {
		number := fmt.Sprintf("%5d | ", e.Line)
		fmt.Fprintf(w, "%s%s\n", number, visible(e.Frame))
		fmt.Fprint(w, caret(e, len(number)))
	}
	if e.Hint != "" {
		fmt.Fprintln(w, "hint:", visible(e.Hint))
	}
}

// caret is the line that points at the column of the one above it, which keeps that one's tabs. A column counts
// UTF-16 units, and the frame of a long line is a part of it: what is beyond the frame gets no caret.
func caret(e *sandboxd.Error, indent int) string {
	before := utf16.Encode([]rune(e.Frame))
	if e.Column < 1 || e.Column > len(before)+1 {
		return ""
	}
	under := strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, string(utf16.Decode(before[:e.Column-1])))
	return strings.Repeat(" ", indent) + under + "^\n"
}

// printCalls says what became of the calls of a run that failed: some may have changed something. Of one that is ok, only those that
// were refused: the program may have gone on without them.
func printCalls(w io.Writer, r *sandboxd.Result) {
	for _, c := range r.Calls {
		if r.Outcome == sandboxd.OutcomeOK && c.State != sandboxd.CallDenied {
			continue
		}
		text := strings.ReplaceAll(string(c.State), "_", " ")
		if c.State == sandboxd.CallDenied {
			text += fmt.Sprintf(" by %s: %s", c.Rule, c.Error)
		}
		fmt.Fprintf(w, "  call %d  %s.%s  %s\n", c.N, printable(c.Server), printable(c.Tool), printable(text))
	}
}

// visible keeps what a program or a tool wrote from steering the terminal.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return utf8.RuneError
		}
		return r
	}, text)
}

// tints says whether colours may go to a file: to a terminal that shows them, unless NO_COLOR is set (https://no-color.org).
func tints(f *os.File) palette {
	return palette(term.IsTerminal(int(f.Fd())) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb")
}

// printSafeJSON is printJSON with what a program chose escaped, so that it is as safe on a terminal as it is elsewhere.
func printSafeJSON(w io.Writer, object any) error {
	var text bytes.Buffer
	if err := printJSON(&text, object); err != nil {
		return err
	}
	_, err := io.WriteString(w, printableLines(text.String()))
	return err
}

// printJSON writes one JSON object for people and programs.
func printJSON(w io.Writer, object any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(object)
}

// mistakes prints what is wrong in files, which is a line each, and gives that its exit code.
func mistakes(err error) error {
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintln(os.Stderr, "sandboxctl: error:", visible(strings.TrimSuffix(line, "\n")))
	}
	return &programError{&sandboxd.Error{Kind: sandboxd.OutcomeInvalid, Message: err.Error()}, exitProgram}
}
