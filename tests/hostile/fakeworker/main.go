// The jail forbids what the runtime would name its mappings with.
//go:debug decoratemappings=0

// Command fakeworker stands in for sandbox-worker in tests: it enters the real jail, and then says and does
// whatever the "program" that it gets tells it to. What it does before READY stands in the extended
// attribute user.birth of its binary.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"github.com/sandboxd/sandboxd/internal/jail"
	"github.com/sandboxd/sandboxd/internal/wire"
)

func main() {
	birth := plan()
	fmt.Fprintln(os.Stderr, "fakeworker:", live(birth))
	os.Exit(1)
}

// plan reads the attribute that tests put on the binary: there may be no other file that the fake could read.
func plan() string {
	var birth [256]byte
	n, err := syscall.Getxattr("/proc/self/exe", "user.birth", birth[:])
	if err != nil {
		return ""
	}
	return string(birth[:n])
}

// live is cmd/sandbox-worker's order, with a lie at any point of it.
func live(birth string) error {
	if err := jail.CloseOthers(); err != nil {
		return err
	}
	runtime.GOMAXPROCS(1)
	conn := wire.NewConn(socket{})
	spec, err := gate(conn)
	if err != nil {
		return err
	}
	before(birth)
	var report jail.Report
	if birth == "unjailed" {
		report = jail.Report{Seccomp: "kill, 1 filter", Landlock: 7, Rlimits: []string{"fsize=0"}, Proved: []string{"everything"}}
	} else if report, err = jail.Enter(spec); err != nil {
		return err
	}
	ready(birth, report)
	perform(conn, receive(conn))
	return nil
}

func gate(conn *wire.Conn) (jail.Spec, error) {
	var spec jail.Spec
	_, line, err := conn.Header()
	if err != nil {
		return spec, err
	}
	var m wire.Gate
	if err := json.Unmarshal(line, &m); err != nil {
		return spec, err
	}
	return spec, json.Unmarshal(m.Jail, &spec)
}

// before is what goes wrong before READY.
func before(birth string) {
	switch birth {
	case "never":
		time.Sleep(time.Hour)
	case "late":
		time.Sleep(1500 * time.Millisecond)
	case "exit":
		os.Exit(0)
	case "crash":
		fmt.Fprintln(os.Stderr, "the fake crashed on purpose")
		os.Exit(7)
	case "silent-half":
		say([]byte(`{"type":"ready"`))
		time.Sleep(time.Hour)
	}
}

// ready says READY, or something like it.
func ready(birth string, r jail.Report) {
	switch birth {
	case "landlock-99":
		r.Landlock = 99
	case "landlock-0":
		r.Landlock = 0
	case "proofless":
		r.Proved = nil
	case "rlimits":
		r.Rlimits = append(r.Rlimits[:0:0], "fsize=0")
	}
	text, err := json.Marshal(wire.Ready{Type: wire.TypeReady, Report: must(json.Marshal(r))})
	if err != nil {
		panic(err)
	}
	line := string(text) + "\n"
	switch birth {
	case "twice":
		line += line
	case "extra":
		line += "x"
	case "early":
		line += `{"type":"done","kind":"ok","size":2}` + "\n{}"
	case "other-type":
		line = `{"type":"done","kind":"ok","size":0}` + "\n"
	case "not-json":
		line = "READY\n"
	case "member":
		line = strings.Replace(line, `"type"`, `"more":1,"type"`, 1)
	case "report-member":
		line = strings.Replace(line, `"seccomp"`, `"more":1,"seccomp"`, 1)
	case "endless":
		line = strings.Repeat("x", 1<<20)
	}
	say([]byte(line))
	switch birth {
	case "twice-late":
		time.Sleep(100 * time.Millisecond)
		say([]byte(line))
	case "deaf":
		deaf()
	case "flicker": // dies while the nursery looks at it, or just afterwards
		for end := time.Now().Add(time.Duration(os.Getpid()%40) * 25 * time.Microsecond); time.Now().Before(end); {
		}
		os.Exit(0)
	}
}

const maxBody = 64 << 20 // above whatever the daemon may send

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// receive takes the program, which is a script for perform.
func receive(conn *wire.Conn) string {
	kind, line, err := conn.Header()
	if err != nil || kind != wire.TypeStart {
		os.Exit(0)
	}
	var m wire.Start
	if err := json.Unmarshal(line, &m); err != nil {
		os.Exit(3)
	}
	source := must(conn.Body(m.Source, maxBody))
	must(conn.Body(m.Input, maxBody))
	return string(source)
}

// say writes to the daemon, all of it or until the daemon is gone.
func say(p []byte) { writeAll(fdSocket, p) }

const (
	fdStderr = 2
	fdSocket = 3
)

func writeAll(fd int, p []byte) {
	for len(p) > 0 {
		n, err := syscall.Write(fd, p)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			os.Exit(4)
		default:
			p = p[n:]
		}
	}
}

// socket is descriptor 3, by plain system calls.
type socket struct{}

func (socket) Read(p []byte) (int, error) {
	for {
		n, err := syscall.Read(fdSocket, p)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

func (socket) Write(p []byte) (int, error) {
	say(p)
	return len(p), nil
}

// hog takes memory until the kernel gives no more.
func hog() {
	for {
		at, _, errno := syscall.RawSyscall6(syscall.SYS_MMAP, 0, 16<<20, syscall.PROT_READ|syscall.PROT_WRITE,
			syscall.MAP_PRIVATE|syscall.MAP_ANONYMOUS, ^uintptr(0), 0)
		if errno != 0 {
			deaf()
		}
		// What was mapped is memory of the test's own, which no Go pointer refers to.
		for _, page := range pages(at, 16<<20) {
			page[0] = 1
		}
	}
}

// pages are the pages of a mapping.
func pages(at uintptr, size int) [][]byte {
	all := unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&at))), size)
	var each [][]byte
	for i := 0; i < size; i += 4096 {
		each = append(each, all[i:i+4096])
	}
	return each
}
