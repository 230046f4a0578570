package audit

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

const oNonblock = syscall.O_NONBLOCK

// openOwn opens a file of the log, or makes it, with a mode that its group may read with or not at all. What somebody else
// could have put there is refused.
func openOwn(path string, flags int, mode os.FileMode) (*os.File, error) {
	// No link is followed, and a fifo does not hold us up (open(2)).
	f, err := os.OpenFile(path, flags|syscall.O_NOFOLLOW|oNonblock|syscall.O_CLOEXEC, mode)
	if errors.Is(err, syscall.ELOOP) {
		return nil, fmt.Errorf("open %s: it is a symbolic link, which is not followed: name the file itself", path)
	}
	if err != nil {
		return nil, err
	}
	if err := own(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return f, nil
}

// own says what is wrong with the owner or the mode of a file or directory.
func own(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch uid := uint32(os.Geteuid()); {
	case !ok:
		return errors.New("its owner is not known")
	case info.IsDir():
		if stat.Uid != uid && stat.Uid != 0 {
			return fmt.Errorf("the directory is user %d's, and must be root's or this user's (%d)", stat.Uid, uid)
		}
		if info.Mode()&0o022 != 0 {
			return fmt.Errorf("others may write to the directory (mode %04o): chmod go-w", info.Mode().Perm())
		}
		return nil
	case !info.Mode().IsRegular():
		return errors.New("it is no regular file")
	case stat.Uid != uid:
		return fmt.Errorf("it is user %d's, and must be this user's (%d)", stat.Uid, uid)
	case stat.Nlink != 1:
		return fmt.Errorf("it has %d names: another one is a way around these checks", stat.Nlink)
	case info.Mode()&0o137 != 0:
		return fmt.Errorf("others may do more than its group may read (mode %04o): chmod 600", info.Mode().Perm())
	}
	return nil
}

// lock takes the key of a log, and with it the log: one daemon writes it. It makes a key where there is none. The lock is on
// the key, as nobody else can open that: whoever can read a file can lock it too (flock(2)).
func lock(path string) (*os.File, []byte, error) {
	f, err := openOwn(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, err
	}
	key, err := locked(f, path)
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, key, nil
}

func locked(f *os.File, path string) ([]byte, error) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("%s is locked: another daemon writes this log", path)
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	mine, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if there, err := os.Lstat(path); err != nil || !os.SameFile(mine, there) {
		return nil, fmt.Errorf("%s was replaced while it was being locked", path)
	}
	if mine.Mode()&0o077 != 0 {
		return nil, fmt.Errorf("%s: others may read the key (mode %04o): chmod 600", path, mine.Mode().Perm())
	}
	if mine.Size() > 0 {
		return readKey(f)
	}
	key := make([]byte, sha256.Size)
	rand.Read(key) // does not fail
	if _, err := f.WriteString(hex.EncodeToString(key) + "\n"); err != nil {
		return nil, errors.Join(fmt.Errorf("write %s: %w", path, err), f.Truncate(0))
	}
	if err := f.Sync(); err != nil {
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	return key, syncDir(filepath.Dir(path))
}

func readKey(f *os.File) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(f, 1<<10))
	if err != nil {
		return nil, err
	}
	key, err := hex.DecodeString(strings.TrimSuffix(string(text), "\n"))
	if err != nil || len(key) != sha256.Size {
		return nil, fmt.Errorf("%s is no key: it has not %d hex digits. Without it no payload is found by its hash; move it away for a new one",
			f.Name(), 2*sha256.Size)
	}
	return key, nil
}

// KeyPath is where the key of the log at path is.
func KeyPath(path string) string {
	stem, _ := split(path)
	return filepath.Join(filepath.Dir(path), stem+".key")
}

// ReadKey reads the key of the log at path, for Digest.
func ReadKey(path string) ([]byte, error) {
	f, err := os.Open(KeyPath(path))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readKey(f)
}

// keyID names a key, and tells nothing of it.
func keyID(key []byte) string {
	return Digest(key, []byte("sandboxd audit key"))[len("hmac-sha256:"):][:16]
}

// lookGroup finds the group that may read the files; -1: none.
func lookGroup(name string) (int, error) {
	if name == "" {
		return -1, nil
	}
	if id, err := strconv.ParseUint(name, 10, 31); err == nil {
		return int(id), nil
	}
	g, err := user.LookupGroup(name)
	if err != nil {
		return -1, fmt.Errorf("audit.group: %w", err)
	}
	return strconv.Atoi(g.Gid)
}

// syncDir puts the names in a directory on disk.
func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
