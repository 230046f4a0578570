//go:build linux

package attack

import (
	"errors"
	"strconv"

	"golang.org/x/sys/unix"
)

var files = Class{
	Name:  "files",
	About: "Read, write, make, remove and watch files, by path, by handle, and without a path.",
	Attacks: append([]Attack{
		effect("read a file", "opens a file that everybody may read, and reads it", readFile, Seccomp, Landlock, Rlimits, Namespaces),
		effect("read /etc/passwd", "opens it and reads", readPasswd, Seccomp, Landlock, Rlimits, Namespaces),
		effect("list a directory", "opens it and lists", listDirectory, Seccomp, Landlock, Rlimits, Namespaces),
		effect("create a file", "in a directory in which everybody may", createFile, Seccomp, Landlock, Rlimits, Namespaces),
		effect("write a file", "opens a file that everybody may write, and writes", writeFile, Seccomp, Landlock, Rlimits, Namespaces),
		effect("truncate a file", "by its path, without opening it", func(t *Target) error { return unix.Truncate(t.File, 0) },
			Seccomp, Landlock, Namespaces).fromABI(3),
		effect("remove a file", "that everybody may remove",
			func(t *Target) error { return unix.Unlink(t.File) }, Seccomp, Landlock, Namespaces),
		effect("rename a file", "within its directory", func(t *Target) error { return unix.Rename(t.File, t.File+".new") },
			Seccomp, Landlock, Namespaces),
		effect("link a file", "under a second name", func(t *Target) error { return unix.Link(t.File, t.Dir+"/link") },
			Seccomp, Landlock, Namespaces),
		effect("make a directory", "in a directory in which everybody may",
			func(t *Target) error { return unix.Mkdir(t.Dir+"/made", 0o777) },
			Seccomp, Landlock, Namespaces),
		effect("make a symbolic link", "to /etc/shadow", func(t *Target) error { return unix.Symlink("/etc/shadow", t.Dir+"/symlink") },
			Seccomp, Landlock, Namespaces),
		effect("make a named pipe", "that another process may open", func(t *Target) error { return unix.Mkfifo(t.Dir+"/fifo", 0o666) },
			Seccomp, Landlock, Namespaces),
		effect("look at a file", "stat: its size, owner and times", lookAt, Seccomp, Namespaces),
		effect("touch a file", "sets its times", touch, Seccomp, Namespaces),
		effect("change a file's mode", "of a file that the daemon's uid owns", func(t *Target) error { return unix.Chmod(t.File, 0o777) },
			Seccomp, Namespaces, UID),
		effect("leave a core file", "goes to a directory that everybody may write, and dies of SIGABRT", leaveCore,
			Seccomp, Landlock, Rlimits, Dumpable, Namespaces).needs("kernel.core_pattern with a relative name"),

		killed("openat", "opens / for reading", unix.SYS_OPENAT, cwd, at(&root), 0, 0),
		killed("openat O_PATH", "opens / without rights", unix.SYS_OPENAT, cwd, at(&root), unix.O_PATH, 0),
		killed("openat O_TMPFILE", "a file without a name", unix.SYS_OPENAT, cwd, at(&root), unix.O_TMPFILE|unix.O_RDWR, 0o600),
		killed("openat beside fd 3", "a path below a socket", unix.SYS_OPENAT, socket, at(&root), 0, 0),
		killed("openat2", "opens / by the newer call", unix.SYS_OPENAT2, cwd, at(&root), at(&buffer), 24),
		killed("open_by_handle_at", "opens by handle, past all directories", unix.SYS_OPEN_BY_HANDLE_AT, cwd, at(&buffer), 0),
		killed("name_to_handle_at", "asks for the handle of /", unix.SYS_NAME_TO_HANDLE_AT, cwd, at(&root), at(&buffer), at(&buffer), 0),
		killed("statx", "looks at /", unix.SYS_STATX, cwd, at(&root), 0, 0, at(&buffer)),
		killed("statfs", "asks what / is mounted from", unix.SYS_STATFS, at(&root), at(&buffer)),
		killed("faccessat", "asks whether / may be read", unix.SYS_FACCESSAT, cwd, at(&root), 4),
		killed("readlinkat", "reads a link", unix.SYS_READLINKAT, cwd, at(&root), at(&buffer), page),
		killed("getcwd", "asks where it is", unix.SYS_GETCWD, at(&buffer), page),
		killed("chdir", "goes elsewhere", unix.SYS_CHDIR, at(&root)),
		killed("getdents64", "lists its socket", unix.SYS_GETDENTS64, socket, at(&buffer), page),
		killed("memfd_create", "a file in memory", unix.SYS_MEMFD_CREATE, at(&root), 0),
		killed("memfd_secret", "memory that the kernel can't see", unix.SYS_MEMFD_SECRET),
		killed("unlinkat", "removes /", unix.SYS_UNLINKAT, cwd, at(&root), unix.AT_REMOVEDIR),
		killed("mkdirat", "makes a directory", unix.SYS_MKDIRAT, cwd, at(&root), 0o700),
		killed("mknodat", "makes a device", unix.SYS_MKNODAT, cwd, at(&root), unix.S_IFBLK, 0x800),
		killed("symlinkat", "makes a symbolic link", unix.SYS_SYMLINKAT, at(&root), cwd, at(&root)),
		killed("linkat", "links an open descriptor into the file system",
			unix.SYS_LINKAT, socket, at(&buffer), cwd, at(&root), unix.AT_EMPTY_PATH),
		killed("renameat2", "exchanges two files", unix.SYS_RENAMEAT2, cwd, at(&root), cwd, at(&root), unix.RENAME_EXCHANGE),
		killed("truncate", "cuts a file", unix.SYS_TRUNCATE, at(&root), 0),
		killed("fchmodat", "changes a mode", unix.SYS_FCHMODAT, cwd, at(&root), 0o777),
		killed("fchmodat2", "changes a mode, by the newer call", unix.SYS_FCHMODAT2, cwd, at(&root), 0o777, 0),
		killed("fchownat", "changes an owner", unix.SYS_FCHOWNAT, cwd, at(&root), 0, 0, 0),
		killed("utimensat", "sets times", unix.SYS_UTIMENSAT, cwd, at(&root), 0, 0),
		killed("setxattr", "sets an attribute", unix.SYS_SETXATTR, at(&root), at(&root), at(&buffer), 1, 0),
		killed("getxattr", "reads an attribute", unix.SYS_GETXATTR, at(&root), at(&root), at(&buffer), 1),
		killed("inotify_init1", "watches files", unix.SYS_INOTIFY_INIT1, 0),
		killed("fanotify_init", "watches the file system", unix.SYS_FANOTIFY_INIT, 0, 0),
		killed("fallocate", "takes disk space", unix.SYS_FALLOCATE, stderr, 0, 0, 1<<30),
		killed("ftruncate", "takes disk space, on standard input", unix.SYS_FTRUNCATE, stdin, 1<<30),
		killed("sync", "makes the machine write its disks", unix.SYS_SYNC),
		killed("umask", "of files that it makes", unix.SYS_UMASK, 0),
		killed("copy_file_range", "from standard input to standard error", unix.SYS_COPY_FILE_RANGE, stdin, 0, stderr, 0, 1, 0),
	}, nativeFiles...),
}

func readFile(t *Target) error { return readWant(t.File, t.Secret) }

func readPasswd(*Target) error { return readWant("/etc/passwd", "root:") }

// readWant fails unless a file begins with want.
func readWant(path, want string) error {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return wantFrom(fd, want)
}

// wantFrom fails unless what comes from a descriptor begins with want.
func wantFrom(fd int, want string) error {
	text := make([]byte, len(want))
	n, err := unix.Read(fd, text)
	if err != nil {
		return err
	}
	if string(text[:n]) != want {
		return errors.New("read something else: " + strconv.Quote(string(text[:n])))
	}
	return nil
}

func listDirectory(t *Target) error {
	fd, err := unix.Open(t.Dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	var entries [4096]byte
	_, err = unix.ReadDirent(fd, entries[:])
	return err
}

func createFile(t *Target) error {
	_, err := unix.Open(t.Dir+"/created", unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, 0o666)
	return err
}

func writeFile(t *Target) error {
	fd, err := unix.Open(t.File, unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	_, err = unix.Write(fd, []byte("overwritten"))
	return err
}

func lookAt(t *Target) error {
	var s unix.Stat_t
	return unix.Stat(t.File, &s)
}

func touch(t *Target) error {
	now := []unix.Timespec{{Nsec: unix.UTIME_NOW}, {Nsec: unix.UTIME_NOW}}
	return unix.UtimesNanoAt(unix.AT_FDCWD, t.File, now, 0)
}

func leaveCore(t *Target) error {
	if err := unix.Chdir(t.Dir); err != nil {
		return err
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_CORE, &limit); err != nil {
		return err
	}
	limit.Cur = limit.Max
	if err := unix.Prlimit(0, unix.RLIMIT_CORE, &limit, nil); err != nil {
		return err
	}
	var byDefault [4]uint64 // struct sigaction of the kernel
	if errno := raw(unix.SYS_RT_SIGACTION, uintptr(unix.SIGABRT), at(&byDefault), 0, 8); errno != 0 {
		return errno
	}
	return tgkill(0, uintptr(unix.SIGABRT))
}
