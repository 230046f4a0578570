//go:build linux

package attack

import (
	"time"

	"golang.org/x/sys/unix"
)

var sockets = Class{
	Name:  "sockets",
	About: "Reach the network, other processes' sockets and the kernel's, and pass descriptors.",
	Attacks: append([]Attack{
		effect("connect by TCP", "to a port of 127.0.0.1, and reads what it says",
			connectTCP(unix.IPPROTO_TCP), Seccomp, Landlock, Rlimits, Namespaces).fromABI(4),
		effect("connect by multipath TCP", "to the same",
			connectTCP(unix.IPPROTO_MPTCP), Seccomp, Rlimits, Namespaces).needs("multipath TCP"),
		effect("connect by TCP fast open", "to the same, with the first data instead of a connect",
			fastOpen, Seccomp, Rlimits, Namespaces).
			needs("TCP fast open"),
		effect("serve on a TCP port", "which the test connects to", serveTCP, Seccomp, Landlock, Rlimits, Namespaces).fromABI(4),
		effect("send a UDP datagram", "to a port of 127.0.0.1", sendUDP, Seccomp, Rlimits, Namespaces),
		effect("connect to a Unix socket", "by its path, and reads what it says", connectUnix, Seccomp, Rlimits, Namespaces),
		effect("connect to an abstract Unix socket", "and reads what it says",
			connectAbstract, Seccomp, Landlock, Rlimits, Namespaces).fromABI(6),
		effect("speak netlink", "asks for the network devices", speakNetlink, Seccomp, Rlimits),
		effect("make a socket pair", "to have two descriptors more", socketPair, Seccomp, Rlimits),
		effect("take a descriptor from its socket", "one that the peer sends along", takeDescriptor, Seccomp, Rlimits),
		effect("send a descriptor over its socket", "its standard input", sendDescriptor, Seccomp).because(
			"it can give away nothing but its own four descriptors; the daemon takes no descriptors, and the kernel closes them"),

		killed("connect", "its socket to another address", unix.SYS_CONNECT, socket, at(&buffer), 16),
		killed("bind", "its socket to a name", unix.SYS_BIND, socket, at(&buffer), 2),
		killed("listen", "on its socket", unix.SYS_LISTEN, socket, 1),
		killed("accept4", "on its socket", unix.SYS_ACCEPT4, socket, 0, 0, 0),
		killed("sendto", "one byte on its socket", unix.SYS_SENDTO, socket, at(&buffer), 1, 0, 0, 0),
		killed("sendto with an address", "one byte to elsewhere", unix.SYS_SENDTO, socket, at(&buffer), 1, 0, at(&buffer), 16),
		killed("recvfrom", "peeks at its socket", unix.SYS_RECVFROM, socket, at(&buffer), 1, unix.MSG_PEEK, 0, 0),
		killed("sendmsg", "with room for descriptors", unix.SYS_SENDMSG, socket, at(&buffer), 0),
		killed("recvmsg", "with room for descriptors", unix.SYS_RECVMSG, socket, at(&buffer), 0),
		killed("sendmmsg", "many messages", unix.SYS_SENDMMSG, socket, at(&buffer), 1, 0),
		killed("recvmmsg", "many messages", unix.SYS_RECVMMSG, socket, at(&buffer), 1, 0, 0),
		killed("shutdown", "half-closes its socket", unix.SYS_SHUTDOWN, socket, unix.SHUT_WR),
		killed("setsockopt", "a larger buffer for its socket",
			unix.SYS_SETSOCKOPT, socket, unix.SOL_SOCKET, unix.SO_SNDBUF, at(&buffer), 4),
		killed("getsockopt", "asks who its peer is",
			unix.SYS_GETSOCKOPT, socket, unix.SOL_SOCKET, unix.SO_PEERCRED, at(&buffer), at(&aligned)),
		killed("getsockname", "of its socket", unix.SYS_GETSOCKNAME, socket, at(&buffer), at(&aligned)),
		killed("getpeername", "of its socket", unix.SYS_GETPEERNAME, socket, at(&buffer), at(&aligned)),
		killed("socketpair", "two more descriptors", unix.SYS_SOCKETPAIR, unix.AF_UNIX, unix.SOCK_STREAM, 0, at(&buffer)),
	}, families()...),
}

// families tries a socket of each kind that has had holes, or that reaches somewhere.
func families() []Attack {
	var all []Attack
	for _, f := range []struct {
		name   string
		domain uintptr
		kind   uintptr
		to     string
	}{
		{"AF_UNIX", unix.AF_UNIX, unix.SOCK_STREAM, "to other processes"},
		{"AF_INET", unix.AF_INET, unix.SOCK_STREAM, "to the network"},
		{"AF_INET6", unix.AF_INET6, unix.SOCK_DGRAM, "to the network, by UDP"},
		{"AF_INET, raw", unix.AF_INET, unix.SOCK_RAW, "to the network, past TCP and UDP"},
		{"AF_PACKET", unix.AF_PACKET, unix.SOCK_RAW, "to the network card"},
		{"AF_NETLINK", unix.AF_NETLINK, unix.SOCK_RAW, "to the kernel's network code"},
		{"AF_VSOCK", unix.AF_VSOCK, unix.SOCK_STREAM, "to the hypervisor"},
		{"AF_ALG", unix.AF_ALG, unix.SOCK_SEQPACKET, "to the kernel's cryptography"},
		{"AF_BLUETOOTH", unix.AF_BLUETOOTH, unix.SOCK_RAW, "to a radio"},
		{"AF_CAN", unix.AF_CAN, unix.SOCK_RAW, "to a bus"},
		{"AF_TIPC", unix.AF_TIPC, unix.SOCK_STREAM, "to a cluster"},
		{"AF_RDS", unix.AF_RDS, unix.SOCK_SEQPACKET, "to a cluster"},
		{"AF_KEY", unix.AF_KEY, unix.SOCK_RAW, "to the kernel's IPsec keys"},
		{"AF_XDP", unix.AF_XDP, unix.SOCK_RAW, "to the network card's rings"},
		{"AF_KCM", unix.AF_KCM, unix.SOCK_DGRAM, "to a parser in the kernel"},
		{"AF_SMC", unix.AF_SMC, unix.SOCK_STREAM, "to remote memory"},
		{"AF_UNSPEC", unix.AF_UNSPEC, unix.SOCK_STREAM, "of no family"},
		{"family 1000", 1000, unix.SOCK_STREAM, "of a family that does not exist"},
	} {
		all = append(all, killed("socket "+f.name, f.to, unix.SYS_SOCKET, f.domain, f.kind, 0))
	}
	return all
}

func local(port int) *unix.SockaddrInet4 {
	return &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}
}

func connectTCP(protocol int) func(*Target) error {
	return func(t *Target) error {
		return connect(unix.AF_INET, protocol, local(t.TCP), t.Secret)
	}
}

// connect opens a stream and fails unless it begins with want.
func connect(family, protocol int, to unix.Sockaddr, want string) error {
	s, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, protocol)
	if err != nil {
		return err
	}
	if err := unix.Connect(s, to); err != nil {
		return err
	}
	return wantFrom(s, want)
}

func fastOpen(t *Target) error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, unix.IPPROTO_TCP)
	if err != nil {
		return err
	}
	if err := unix.Sendto(s, []byte("x"), unix.MSG_FASTOPEN|unix.MSG_NOSIGNAL, local(t.TCP)); err != nil {
		return err
	}
	return wantFrom(s, t.Secret)
}

func serveTCP(t *Target) error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, unix.IPPROTO_TCP)
	if err != nil {
		return err
	}
	if err := unix.Bind(s, local(t.Free)); err != nil {
		return err
	}
	return unix.Listen(s, 1)
}

func sendUDP(t *Target) error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.IPPROTO_UDP)
	if err != nil {
		return err
	}
	return unix.Sendto(s, []byte(t.Secret), 0, local(t.UDP))
}

func connectUnix(t *Target) error {
	return connect(unix.AF_UNIX, 0, &unix.SockaddrUnix{Name: t.Unix}, t.Secret)
}

func connectAbstract(t *Target) error {
	return connect(unix.AF_UNIX, 0, &unix.SockaddrUnix{Name: "@" + t.Abstract}, t.Secret)
}

func speakNetlink(*Target) error {
	s, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	request := [32]byte{0: 32, 4: unix.RTM_GETLINK, 6: unix.NLM_F_REQUEST, 7: unix.NLM_F_DUMP >> 8} // nlmsghdr, ifinfomsg
	if err := unix.Sendto(s, request[:], 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	_, err = unix.Read(s, buffer[:])
	return err
}

func socketPair(*Target) error {
	_, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	return err
}

func sendDescriptor(*Target) error {
	for tries := 0; ; tries++ {
		err := unix.Sendmsg(socket, []byte(" "), unix.UnixRights(stdin), nil, 0)
		if err != unix.ETOOMANYREFS || tries == 100 {
			return err
		}
		time.Sleep(5 * time.Millisecond) // others of this user have descriptors under way, and count with this process's limit
	}
}

func takeDescriptor(*Target) error {
	var one [1]byte
	control := make([]byte, unix.CmsgSpace(4))
	_, n, flags, _, err := unix.Recvmsg(socket, one[:], control, unix.MSG_CMSG_CLOEXEC)
	switch {
	case err != nil:
		return err
	case flags&unix.MSG_CTRUNC != 0 || n == 0:
		return unix.EMFILE
	}
	return nil
}
