package server

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"regexp"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/elastic/go-seccomp-bpf/arch"
)

// kernelLog is where the kernel says which system call a process was killed for. Nothing depends on it: many systems let
// no daemon read it, or send such records to auditd instead.
type kernelLog struct {
	mu   sync.Mutex // guards the fields below
	file *os.File   // nil: can't be read
	seen map[int]string
}

const (
	logWait   = 100 * time.Millisecond // the kernel's audit thread writes it after the death
	maxRecord = 8 << 10                // of /dev/kmsg
	maxSeen   = 1024
)

func openKernelLog(log *slog.Logger) *kernelLog {
	k := &kernelLog{seen: make(map[int]string)}
	file, err := os.OpenFile("/dev/kmsg", os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err == nil {
		_, err = file.Seek(0, io.SeekEnd)
	}
	if err == nil {
		err = file.SetReadDeadline(time.Time{}) // it can be waited for
	}
	if err != nil {
		log.Info("violations won't name the system call: the kernel's log can't be read", "error", err)
		return k
	}
	k.file = file
	return k
}

// forbidden returns the name of the system call that a process was killed for; empty if that is not known.
func (k *kernelLog) forbidden(pid int) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.file == nil || k.file.SetReadDeadline(time.Now().Add(logWait)) != nil {
		return ""
	}
	record := make([]byte, maxRecord)
	for {
		if name, ok := k.seen[pid]; ok {
			delete(k.seen, pid) // the number may be another process's soon
			return name
		}
		n, err := k.file.Read(record)
		if errors.Is(err, syscall.EPIPE) {
			continue // records were overwritten before they were read
		}
		if err != nil {
			return ""
		}
		k.note(record[:n])
	}
}

// killed matches the record of a seccomp kill (linux/audit.h: AUDIT_SECCOMP). A process can't write one into its name:
// that is quoted there.
var killed = regexp.MustCompile(`^[^;]*; ?audit: type=1326 .* pid=(\d+) comm=\S+ .* sig=31 arch=([0-9a-f]+) syscall=(\d+) `)

func (k *kernelLog) note(record []byte) {
	line, _, _ := bytes.Cut(record, []byte("\n"))
	m := killed.FindSubmatch(line)
	if m == nil {
		return
	}
	pid, err := strconv.Atoi(string(m[1]))
	if err != nil {
		return
	}
	if len(k.seen) == maxSeen {
		clear(k.seen)
	}
	k.seen[pid] = callName(string(m[2]), string(m[3]))
}

// callName names a system call by its number, of the architecture that audit gives.
func callName(auditArch, number string) string {
	n, err := strconv.Atoi(number)
	if err != nil {
		return ""
	}
	info, err := arch.GetInfo("")
	if err != nil || fmt.Sprintf("%x", uint32(info.ID)) != auditArch {
		return fmt.Sprintf("number %d of another architecture", n)
	}
	if name, ok := info.SyscallNumbers[n]; ok {
		return name
	}
	return fmt.Sprintf("number %d", n)
}

func (k *kernelLog) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.file != nil {
		k.file.Close()
	}
}
