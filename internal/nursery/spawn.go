package nursery

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/sandboxd/sandboxd/internal/jail"
)

// spawner forks on one thread that lives as long as the nursery: Linux sends a worker its death
// signal when the *thread* that forked it ends (prctl(2), PR_SET_PDEATHSIG).
type spawner struct {
	binary *os.File
	null   *os.File
	path   string
	jobs   chan job

	mu      sync.Mutex // guards the field below
	checked map[jail.Spec]bool

	noClone3 atomic.Bool // a filter on the nursery forbids it
}

type job struct {
	files []*os.File
	leaf  *os.File // the directory of the cgroup to be born in; nil: the nursery's own
	done  chan<- started
}

type started struct {
	process *os.Process
	err     error
}

// newSpawner opens the worker's binary, so that all workers are the same one, whatever becomes of its path.
func newSpawner(path string) (*spawner, error) {
	binary, err := openHigh(path)
	if err != nil {
		return nil, fmt.Errorf("open worker binary: %w", err)
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		binary.Close()
		return nil, fmt.Errorf("open worker's standard input: %w", err)
	}
	s := &spawner{binary: binary, null: null, path: path, jobs: make(chan job), checked: make(map[jail.Spec]bool)}
	// The descriptor works for a user who may not walk the path; a root directory without /proc has no choice.
	if inProc := fmt.Sprintf("/proc/self/fd/%d", binary.Fd()); exists(inProc) {
		s.path = inProc
	}
	return s, nil
}

// openHigh opens a file on a descriptor far above all others. The child that execs it first moves a worker's
// four descriptors out of each other's way, to numbers above the highest of them (syscall.forkExec).
func openHigh(path string) (*os.File, error) {
	low, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer low.Close()
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return nil, fmt.Errorf("limit of open files: %w", err)
	}
	high, err := unix.FcntlInt(low.Fd(), unix.F_DUPFD_CLOEXEC, int(min(highFD, limit.Cur-1)))
	if err != nil {
		return nil, fmt.Errorf("duplicate descriptor of %s: %w", path, err)
	}
	return os.NewFile(uintptr(high), path), nil
}

// highFD is above what maxWorkers take, one descriptor each, and those that are being born.
const highFD = 4095

// check looks at a worker's jail from outside: at everything for the first one of a spec, at its status for the others,
// which are the same binary on the same kernel.
func (s *spawner) check(c *child, spec jail.Spec, r jail.Report) error {
	s.mu.Lock()
	checked := s.checked[spec]
	s.mu.Unlock()
	if checked {
		return jail.CheckStatus(c.pid, c.status, r)
	}
	if err := jail.Check(c.pid, r); err != nil {
		return err
	}
	if c.leaf != nil {
		if err := c.leaf.Check(c.pid); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.checked) == maxChecked { // a run may ask for any memory limit
		clear(s.checked)
	}
	s.checked[spec] = true
	return nil
}

const maxChecked = 64

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func (s *spawner) run() {
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine, and takes what is left of the workers along
	for j := range s.jobs {
		process, err := os.StartProcess(s.path, []string{"sandbox-worker"}, &os.ProcAttr{
			Dir:   "/",
			Env:   []string{},
			Files: j.files,
			Sys:   attributes(os.Geteuid(), j.leaf),
		})
		j.done <- started{process, err}
	}
}

func (s *spawner) stop() {
	close(s.jobs)
	s.binary.Close()
	s.null.Close()
}

// nobody is the user and group of workers whose nursery is root, in a container or on a developer's
// machine: the kernel's overflow uid. A packaged nursery has a user of its own, and is never root.
const nobody = 65534

func attributes(euid int, leaf *os.File) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{
		Setsid:    true, // no terminal to type at
		Pdeathsig: syscall.SIGKILL,
	}
	if euid == 0 {
		a.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	if leaf != nil {
		a.UseCgroupFD, a.CgroupFD = true, int(leaf.Fd())
	}
	return a
}

// start forks the worker with its four descriptors: in its leaf, if it has one, unless what confines the nursery forbids
// that. It tells which.
func (s *spawner) start(theirs ends, l Leaf) (p *os.Process, inLeaf bool, err error) {
	var dir *os.File
	if l != nil && !s.noClone3.Load() {
		if dir, err = l.Dir(); err != nil {
			return nil, false, err
		}
		defer dir.Close()
	}
	p, err = s.fork(theirs, dir)
	if dir != nil && (errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM)) { // RestrictNamespaces=, SystemCallFilter=, seccomp of a container
		s.noClone3.Store(true)
		dir = nil
		p, err = s.fork(theirs, nil)
	}
	if errors.Is(err, os.ErrPermission) && os.Geteuid() == 0 {
		err = fmt.Errorf("%w: as root, workers run as user %d, which takes CAP_SETUID and CAP_SETGID", err, nobody)
	}
	return p, dir != nil, err
}

func (s *spawner) fork(theirs ends, leaf *os.File) (*os.Process, error) {
	done := make(chan started, 1)
	s.jobs <- job{[]*os.File{s.null, s.null, theirs.stderr, theirs.socket}, leaf, done}
	got := <-done
	return got.process, got.err
}
