//go:build linux

package attack

import (
	"errors"

	"golang.org/x/sys/unix"
)

var queues = Class{
	Name:  "System V and POSIX IPC",
	About: "Reach shared memory, semaphores and queues of other processes.",
	Attacks: []Attack{
		effect("read shared memory", "attaches a System V segment that everybody may", readShared, Seccomp, Namespaces),
		effect("take a message", "from a System V queue that everybody may read", takeMessage, Seccomp, Namespaces),
		effect("open a POSIX queue", "that everybody may", openQueue, Seccomp, Landlock, Rlimits, Namespaces),
		effect("make a POSIX queue", "for other processes to open", makeQueue, Seccomp, Rlimits, Namespaces),
		effect("make shared memory", "for other workers to attach", makeShared, Seccomp).because(
			"in the nursery's ipc namespace it reaches other workers only, and those only if they are taken over as well"),

		killed("shmget", "a segment of shared memory", unix.SYS_SHMGET, 0, page, 0o1600),
		killed("shmat", "attaches shared memory", unix.SYS_SHMAT, 0, 0, 0),
		killed("shmat SHM_EXEC", "executable", unix.SYS_SHMAT, 0, 0, 0o100000),
		killed("shmctl", "asks for all shared memory of the machine", unix.SYS_SHMCTL, 0, 14, at(&buffer)),
		killed("shmdt", "detaches shared memory", unix.SYS_SHMDT, 0),
		killed("semget", "semaphores", unix.SYS_SEMGET, 0, 1, 0o1600),
		killed("semtimedop", "waits for a semaphore", unix.SYS_SEMTIMEDOP, 0, at(&buffer), 1, at(&no)),
		killed("semctl", "asks for all semaphores of the machine", unix.SYS_SEMCTL, 0, 0, 19, at(&buffer)),
		killed("msgget", "a message queue", unix.SYS_MSGGET, 0, 0o1600),
		killed("msgsnd", "sends a message", unix.SYS_MSGSND, 0, at(&buffer), 1, 0o4000),
		killed("msgrcv", "takes a message", unix.SYS_MSGRCV, 0, at(&buffer), 1, 0, 0o4000),
		killed("mq_open", "makes a POSIX queue", unix.SYS_MQ_OPEN, at(&root), unix.O_CREAT, 0o600, 0),
		killed("mq_unlink", "removes a POSIX queue", unix.SYS_MQ_UNLINK, at(&root)),
		killed("mq_timedsend", "on its socket", unix.SYS_MQ_TIMEDSEND, socket, at(&buffer), 1, 0, at(&no)),
		killed("mq_timedreceive", "on its socket", unix.SYS_MQ_TIMEDRECEIVE, socket, at(&buffer), page, 0, at(&no)),
		killed("mq_notify", "on its socket", unix.SYS_MQ_NOTIFY, socket, 0),
		killed("mq_getsetattr", "on its socket", unix.SYS_MQ_GETSETATTR, socket, 0, at(&buffer)),
	},
}

func readShared(t *Target) error {
	id, errno := rawValue(unix.SYS_SHMGET, uintptr(t.Shared), 0, 0)
	if errno != 0 {
		return errno
	}
	mem, err := unix.SysvShmAttach(int(id), 0, unix.SHM_RDONLY)
	if err != nil {
		return err
	}
	if string(mem[:len(t.Secret)]) != t.Secret {
		return errors.New("something else is in it")
	}
	return nil
}

func makeShared(*Target) error {
	id, errno := rawValue(unix.SYS_SHMGET, unix.IPC_PRIVATE, page, unix.IPC_CREAT|0o666)
	if errno != 0 {
		return errno
	}
	_, err := unix.SysvShmAttach(int(id), 0, 0)
	_, _ = unix.SysvShmCtl(int(id), unix.IPC_RMID, nil) // it goes with the process then
	return err
}

func takeMessage(t *Target) error {
	id, errno := rawValue(unix.SYS_MSGGET, uintptr(t.Messages), 0)
	if errno != 0 {
		return errno
	}
	const kind, noWait = 8, 0o4000 // struct msgbuf begins with a long; IPC_NOWAIT
	n, errno := rawValue(unix.SYS_MSGRCV, id, at(&buffer), uintptr(len(t.Secret)), 0, noWait)
	if errno != 0 {
		return errno
	}
	if string(buffer[kind:kind+n]) != t.Secret {
		return errors.New("something else was in it")
	}
	return nil
}

func openQueue(t *Target) error { return mqOpen(t.Queue, unix.O_RDWR) }

// makeQueue makes one that the test looks for, and takes away.
func makeQueue(t *Target) error { return mqOpen(t.Queue+"-made", unix.O_CREAT|unix.O_EXCL|unix.O_RDWR) }

func mqOpen(name string, flags uintptr) error {
	path, err := unix.BytePtrFromString(name)
	if err != nil {
		return err
	}
	if errno := raw(unix.SYS_MQ_OPEN, at(path), flags, 0o666, 0); errno != 0 {
		return errno
	}
	return nil
}
