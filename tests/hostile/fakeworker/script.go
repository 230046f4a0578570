package main

import (
	"encoding/json"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/sandboxd/sandboxd/internal/wire"
)

// perform does what a script says, one step a line, and then reads and ignores what comes until it is killed:
//
//	say TEXT        write the quoted text to the daemon
//	flood N TEXT    write it N times
//	await N         read N results
//	stopped         read until the daemon says stop
//	exit N TEXT     write the text to standard error and exit
//	stderr N        write N bytes to standard error
//	spin N          burn CPU on N threads
//	syscall         make a forbidden one
//	half-close      of the socket
//	deaf            read nothing any more
//	pause MS        wait
func perform(conn *wire.Conn, script string) {
	for _, line := range strings.Split(strings.TrimSpace(script), "\n") {
		op, rest, _ := strings.Cut(line, " ")
		step(conn, op, rest)
	}
	for {
		next(conn)
	}
}

func step(conn *wire.Conn, op, rest string) {
	switch op {
	case "say":
		say(unquote(rest))
	case "flood":
		n, text := counted(rest)
		flood(n, text)
	case "await":
		for n, _ := counted(rest); n > 0; {
			if next(conn) == wire.TypeResult {
				n--
			}
		}
	case "stopped":
		for next(conn) != wire.TypeStop {
		}
	case "exit":
		n, text := counted(rest)
		writeAll(fdStderr, text)
		os.Exit(n)
	case "stderr":
		n, _ := counted(rest)
		writeAll(fdStderr, []byte(strings.Repeat("x", n)))
	case "spin":
		n, _ := counted(rest)
		spin(n)
	case "syscall":
		syscall.RawSyscall(syscall.SYS_SOCKET, syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	case "half-close":
		syscall.RawSyscall(syscall.SYS_SHUTDOWN, fdSocket, 1, 0)
	case "hog":
		hog()
	case "deaf":
		deaf()
	case "pause":
		n, _ := counted(rest)
		time.Sleep(time.Duration(n) * time.Millisecond)
	default:
		panic("no such step: " + op)
	}
}

// next reads one message and its body, and returns its type.
func next(conn *wire.Conn) string {
	kind, line, err := conn.Header()
	if err != nil {
		os.Exit(0) // nobody is there any more
	}
	if kind == wire.TypeResult {
		var m wire.Result
		if json.Unmarshal(line, &m) != nil {
			os.Exit(5)
		}
		must(conn.Body(m.Size, maxBody))
	}
	return kind
}

func flood(n int, text []byte) {
	each := max(1, 64<<10/len(text))
	chunk := []byte(strings.Repeat(string(text), each))
	for ; n >= each; n -= each {
		say(chunk)
	}
	say(chunk[:n*len(text)])
}

func spin(n int) {
	runtime.GOMAXPROCS(n)
	for range n - 1 {
		go burn()
	}
	burn()
}

func burn() {
	for i := uint64(1); ; i++ {
		if i == 0 {
			runtime.Gosched()
		}
	}
}

func deaf() {
	for {
		time.Sleep(time.Second)
	}
}

// counted reads "N", or "N TEXT" with the text quoted.
func counted(rest string) (int, []byte) {
	number, text, quoted := strings.Cut(rest, " ")
	n := must(strconv.Atoi(number))
	if !quoted {
		return n, nil
	}
	return n, unquote(text)
}

func unquote(text string) []byte { return []byte(must(strconv.Unquote(text))) }
