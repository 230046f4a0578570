//go:build linux

package escape_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/sandboxd/sandboxd/internal/nursery"
	"github.com/sandboxd/sandboxd/tests/escape/attack"
)

// secret is what there is to steal.
const secret = "the daemon's own secret"

// scene is what a driver puts up to be attacked. Files and processes are new for each attack.
type scene struct {
	// set by newScene, then read-only
	dir      string
	program  string
	sockets  []net.Listener
	datagram net.PacketConn
	shared   int // id of the shared memory
	messages int // id of the message queue
	queue    int // descriptor of the POSIX queue

	target   attack.Target
	standIn  *exec.Cmd       // a process that is the daemon's
	neighbor *nursery.Worker // another worker
}

func newScene(bin string) (*scene, error) {
	dir, err := os.MkdirTemp("", "escape-")
	if err != nil {
		return nil, err
	}
	s := &scene{dir: dir, program: filepath.Join(bin, "sandbox-worker"), shared: -1, messages: -1, queue: -1}
	if err := errors.Join(os.Chmod(dir, 0o755), s.listen(), s.share()); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// listen opens the sockets.
func (s *scene) listen() error {
	s.target.Secret = secret
	s.target.Unix = filepath.Join(s.dir, "socket")
	s.target.Abstract = "sandboxd-escape-" + strconv.Itoa(os.Getpid())
	for _, at := range []struct{ network, address string }{
		{"tcp4", "127.0.0.1:0"}, {"unix", s.target.Unix}, {"unix", "@" + s.target.Abstract},
	} {
		l, err := net.Listen(at.network, at.address)
		if err != nil {
			return err
		}
		s.sockets = append(s.sockets, l)
		go tell(l)
	}
	s.target.TCP = s.sockets[0].Addr().(*net.TCPAddr).Port
	if err := os.Chmod(s.target.Unix, 0o777); err != nil {
		return err
	}
	var err error
	s.datagram, err = net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.target.UDP = s.datagram.LocalAddr().(*net.UDPAddr).Port
	free, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.target.Free = free.Addr().(*net.TCPAddr).Port
	return free.Close()
}

// tell tells the secret to everybody who asks, until the listener is closed.
func tell(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		_, _ = c.Write([]byte(secret))
		c.Close()
	}
}

// share makes what System V and POSIX have for processes to share.
func (s *scene) share() error {
	key := os.Getpid()<<8 | 0x5a
	s.target.Shared, s.target.Messages, s.target.Queue = key, key, s.target.Abstract
	var err error
	if s.shared, err = unix.SysvShmGet(key, 4096, unix.IPC_CREAT|unix.IPC_EXCL|0o666); err != nil {
		return fmt.Errorf("make shared memory: %w", err)
	}
	mem, err := unix.SysvShmAttach(s.shared, 0, 0)
	if err != nil {
		return fmt.Errorf("attach shared memory: %w", err)
	}
	copy(mem, secret)
	if err := unix.SysvShmDetach(mem); err != nil {
		return err
	}
	id, _, errno := unix.Syscall(unix.SYS_MSGGET, uintptr(key), unix.IPC_CREAT|unix.IPC_EXCL|0o666, 0)
	if errno != 0 {
		return fmt.Errorf("make message queue: %w", errno)
	}
	s.messages = int(id)
	mask := unix.Umask(0)
	defer unix.Umask(mask)
	s.queue, err = queue(unix.SYS_MQ_OPEN, s.target.Queue, unix.O_CREAT|unix.O_EXCL|unix.O_RDWR|unix.O_CLOEXEC, 0o666)
	if err != nil {
		return fmt.Errorf("make POSIX queue: %w", err)
	}
	return nil
}

// queue makes a system call that is about a POSIX queue.
func queue(nr uintptr, name string, args ...uintptr) (int, error) {
	path, err := unix.BytePtrFromString(name)
	if err != nil {
		return -1, err
	}
	args = append(args, 0, 0, 0)
	value, _, errno := unix.Syscall6(nr, uintptr(unsafe.Pointer(path)), args[0], args[1], args[2], 0, 0)
	if errno != 0 {
		return -1, errno
	}
	return int(value), nil
}

// prepare puts up what the attack of that name uses up: new files, and the processes that the name says it is aimed at.
func (s *scene) prepare(client *nursery.Client, name string) error {
	dir, err := os.MkdirTemp(s.dir, "files-")
	if err != nil {
		return err
	}
	s.target.Dir, s.target.File, s.target.Program = dir, filepath.Join(dir, "file"), filepath.Join(dir, "program")
	if err := errors.Join(
		os.Chmod(dir, 0o777),
		os.WriteFile(s.target.File, []byte(secret), 0o666), os.Chmod(s.target.File, 0o666),
		os.Symlink(s.program, s.target.Program),
		s.post(),
	); err != nil {
		return err
	}
	if strings.Contains(name, "the daemon") {
		s.standIn = exec.Command("sleep", "60")
		if err := s.standIn.Start(); err != nil {
			return err
		}
		s.target.Daemon = s.standIn.Process.Pid
	}
	if strings.Contains(name, "another worker") {
		if s.neighbor, err = client.Spawn(context.Background(), spec); err != nil {
			return err
		}
		s.target.Worker, err = insidePID(s.neighbor.PID)
	}
	return err
}

// post puts the secret into the message queue, if it is not there.
func (s *scene) post() error {
	message := append([]byte{1, 0, 0, 0, 0, 0, 0, 0}, secret...) // struct msgbuf
	var info [256]byte
	const qnum = 9 * 8 // in struct msqid_ds, after msg_perm, three times and cbytes
	if _, _, errno := unix.Syscall(unix.SYS_MSGCTL, uintptr(s.messages), unix.IPC_STAT, uintptr(unsafe.Pointer(&info))); errno != 0 {
		return errno
	}
	if info[qnum] > 0 {
		return nil
	}
	const noWait = 0o4000
	_, _, errno := unix.Syscall6(unix.SYS_MSGSND, uintptr(s.messages), uintptr(unsafe.Pointer(&message[0])), uintptr(len(secret)), noWait, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// insidePID is the number that a process has in the innermost namespace.
func insidePID(pid int) (int, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), "\nNSpid:")
	line, _, _ := strings.Cut(rest, "\n")
	numbers := strings.Fields(line)
	if len(numbers) == 0 {
		return 0, errors.New("no NSpid in its status")
	}
	return strconv.Atoi(numbers[len(numbers)-1])
}

// clean takes away what prepare put up.
func (s *scene) clean() error {
	if s.standIn != nil {
		_ = s.standIn.Process.Kill() // it may be dead
		_ = s.standIn.Wait()
	}
	_, _ = queue(unix.SYS_MQ_UNLINK, made(s)) // it is rarely there
	err := os.RemoveAll(s.target.Dir)
	if s.neighbor != nil {
		_, buried := s.neighbor.Bury()
		err = errors.Join(err, buried)
	}
	s.standIn, s.neighbor = nil, nil
	return err
}

func (s *scene) close() {
	for _, l := range s.sockets {
		l.Close()
	}
	if s.datagram != nil {
		s.datagram.Close()
	}
	if s.shared >= 0 {
		_, _ = unix.SysvShmCtl(s.shared, unix.IPC_RMID, nil)
	}
	if s.messages >= 0 {
		_, _, _ = unix.Syscall(unix.SYS_MSGCTL, uintptr(s.messages), unix.IPC_RMID, 0)
	}
	if s.queue >= 0 {
		unix.Close(s.queue)
		_, _ = queue(unix.SYS_MQ_UNLINK, s.target.Queue)
	}
	os.RemoveAll(s.dir)
}

// looks are how the test itself sees an effect.
var looks = map[string]func(*scene) bool{
	"create a file":                exists("created"),
	"write a file":                 func(s *scene) bool { return s.content() != secret },
	"truncate a file":              func(s *scene) bool { return s.content() == "" },
	"remove a file":                func(s *scene) bool { return !exists("file")(s) },
	"rename a file":                exists("file.new"),
	"link a file":                  exists("link"),
	"make a directory":             exists("made"),
	"make a symbolic link":         exists("symlink"),
	"make a named pipe":            exists("fifo"),
	"change a file's mode":         func(s *scene) bool { return s.mode() == 0o777 },
	"leave a core file":            hasCore,
	"serve on a TCP port":          answers,
	"send a UDP datagram":          arrived,
	"make a POSIX queue":           hasQueue,
	"kill the daemon":              func(s *scene) bool { return dead(s.standIn.Process.Pid) },
	"kill another worker":          neighborDead,
	"kill another worker by queue": neighborDead,
	"kill another worker by pidfd": neighborDead,
}

// atOnce is what a test has to do while the victim attacks.
var atOnce = map[string]func(*nursery.Worker) error{
	"take a descriptor from its socket": giveDescriptor,
}

// eventually gives an effect that the victim says is there some time to show.
func (s *scene) eventually(said bool, look func(*scene) bool) bool {
	for try := 0; ; try++ {
		if look(s) {
			return true
		}
		if !said || try == 100 {
			return false
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func exists(name string) func(*scene) bool {
	return func(s *scene) bool {
		_, err := os.Lstat(filepath.Join(s.target.Dir, name))
		return err == nil
	}
}

func (s *scene) content() string {
	text, err := os.ReadFile(s.target.File)
	if err != nil {
		return secret
	}
	return string(text)
}

func (s *scene) mode() os.FileMode {
	info, err := os.Stat(s.target.File)
	if err != nil {
		return 0
	}
	return info.Mode().Perm()
}

func hasCore(s *scene) bool {
	cores, err := filepath.Glob(filepath.Join(s.target.Dir, "core*"))
	return err == nil && len(cores) > 0
}

func made(s *scene) string { return s.target.Queue + "-made" }

func hasQueue(s *scene) bool {
	fd, err := queue(unix.SYS_MQ_OPEN, made(s), unix.O_RDONLY)
	if err != nil {
		return false
	}
	return unix.Close(fd) == nil
}

func answers(s *scene) bool {
	c, err := net.Dial("tcp4", fmt.Sprintf("127.0.0.1:%d", s.target.Free))
	if err != nil {
		return false
	}
	c.Close()
	return true
}

func arrived(s *scene) bool {
	if err := s.datagram.SetReadDeadline(time.Now().Add(time.Millisecond)); err != nil {
		return false
	}
	text := make([]byte, 64)
	n, _, err := s.datagram.ReadFrom(text)
	return err == nil && string(text[:n]) == secret
}

func neighborDead(s *scene) bool {
	select {
	case <-s.neighbor.Dead:
		return true
	default:
		return false
	}
}

// dead reports whether a child of this process is a zombie, as nobody has waited for it yet.
func dead(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(stat), ") Z ")
}

// giveDescriptor sends one over the victim's socket.
func giveDescriptor(victim *nursery.Worker) error {
	raw, err := victim.Socket.SyscallConn()
	if err != nil {
		return err
	}
	var sent error
	if err := raw.Control(func(fd uintptr) {
		sent = unix.Sendmsg(int(fd), []byte(" "), unix.UnixRights(0), nil, 0)
	}); err != nil {
		return err
	}
	if errors.Is(sent, unix.EPIPE) || errors.Is(sent, unix.ECONNRESET) {
		return nil // the victim is dead already
	}
	return sent
}
