//go:build linux

package attack

import (
	"fmt"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// alone is why one layer is enough against what only multiplies the worker.
const alone = "what is started has the same Landlock domain and limits, and dies with the nursery's pid namespace or the worker's " +
	"cgroup; where cgroups are delegated, pids.max is a second wall"

var execution = Class{
	Name:  "execution",
	About: "Execute programs, and start processes, threads and namespaces.",
	Attacks: append([]Attack{
		effect("execute a program", "a file that everybody may execute", execute(func(t *Target) string { return t.Program }),
			Seccomp, Landlock, Namespaces),
		effect("execute itself", "by /proc/self/exe, to be rid of what the process is",
			execute(func(*Target) string { return "/proc/self/exe" }),
			Seccomp, Landlock),
		effect("start a process", "clone, which is fork", func(*Target) error { return clone(0) }, Seccomp).because(alone),
		effect("start a process in a user namespace", "in which it has all capabilities",
			func(*Target) error { return clone(unix.CLONE_NEWUSER) },
			Seccomp).needs("unprivileged user namespaces").because(
			"the child is in the same Landlock domain, which denies every mount, and gains no file, socket or process: only more of " +
				"the kernel to attack. Where the nursery is a service, its unit forbids namespaces as well (RestrictNamespaces=)"),
		effect("start threads", "40, by the Go runtime", threads, Seccomp).because(alone),

		killed("execve", "/bin/sh", unix.SYS_EXECVE, at(&shell), at(&argv), 0),
		killed("execveat", "/bin/sh", unix.SYS_EXECVEAT, cwd, at(&shell), at(&argv), 0, 0),
		killed("execveat of fd 3", "without a path", unix.SYS_EXECVEAT, socket, at(&buffer), at(&argv), 0, unix.AT_EMPTY_PATH),
		killed("clone a process", "as fork does", unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0),
		killed("clone a thread", "as the Go runtime does",
			unix.SYS_CLONE, unix.CLONE_VM|unix.CLONE_FS|unix.CLONE_FILES|unix.CLONE_SIGHAND|unix.CLONE_THREAD, at(&buffer), 0, 0, 0),
		killed("clone into namespaces", "all at once", unix.SYS_CLONE,
			unix.CLONE_NEWUSER|unix.CLONE_NEWNS|unix.CLONE_NEWNET|unix.CLONE_NEWPID|uintptr(unix.SIGCHLD), 0, 0, 0, 0),
		killed("clone3", "a process, by the newer call", unix.SYS_CLONE3, at(&buffer), 64),
		killed("unshare a user namespace", "to have all capabilities in it", unix.SYS_UNSHARE, unix.CLONE_NEWUSER),
		killed("unshare files", "to have descriptors apart from other threads", unix.SYS_UNSHARE, unix.CLONE_FILES),
		killed("setns", "into the namespace of a descriptor", unix.SYS_SETNS, socket, 0),
		killed("execveat to check only", "asks whether /bin/sh may be executed",
			unix.SYS_EXECVEAT, cwd, at(&shell), at(&argv), 0, 0x10000),
	}, nativeExecution...),
}

// Ran is the argument with which a program was executed by an attack.
const Ran = "ran"

func execute(path func(*Target) string) func(*Target) error {
	return func(t *Target) error { return unix.Exec(path(t), []string{"sandbox-worker", Ran}, []string{}) }
}

const childCode = 42

// clone starts a process that ends at once, and waits for it.
func clone(flags uintptr) error {
	pid, errno := rawValue(unix.SYS_CLONE, flags|uintptr(unix.SIGCHLD))
	if errno != 0 {
		return errno
	}
	if pid == 0 {
		for {
			raw(unix.SYS_EXIT_GROUP, childCode)
		}
	}
	var status unix.WaitStatus
	if _, err := unix.Wait4(int(pid), &status, 0, nil); err != nil {
		return err
	}
	if status.ExitStatus() != childCode {
		return fmt.Errorf("the child ended with %#x", status)
	}
	return nil
}

// threads makes the runtime start threads: goroutines that each have one, and meet.
func threads(*Target) error {
	const n = 40
	var met, all sync.WaitGroup
	met.Add(n)
	for range n {
		all.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			met.Done()
			met.Wait()
		})
	}
	all.Wait()
	return nil
}
