package machine

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Image is what a machine boots from. Boot leaves it as it is.
type Image struct {
	Disk   string // path; its first partition is an ext4 file system
	Kernel string // path
}

// base is what an image has beside Debian's essential packages: systemd as PID 1, and what a login session of an ordinary
// user, with a user manager, takes.
var base = []string{"systemd-sysv", "dbus", "dbus-user-session", "libpam-systemd", "passwd"}

var (
	//go:embed guest/image.sh
	imageScript string

	//go:embed guest/vm.service
	vmService []byte

	//go:embed guest/vm-start
	vmStart []byte

	//go:embed guest/pam
	pam []byte
)

// imageFiles are in every image.
var imageFiles = []file{
	{name: "/etc/pam.d/vm", mode: 0o644, text: pam},
	{name: "/etc/systemd/system/vm.service", mode: 0o644, text: vmService},
	{name: "/usr/local/sbin/vm-start", mode: 0o755, text: vmStart},
}

// Debian is an image of a release with further packages, and an ordinary user named user. It is built on first use, in half
// a minute, and kept in the cache.
func Debian(t testing.TB, release Release, packages ...string) Image {
	t.Helper()
	need(t, "mmdebstrap", "mke2fs", "unshare", "qemu-system-x86_64")
	include := slices.Concat(base, packages)
	slices.Sort(include)
	args := []string{
		"--architectures=amd64", "--variant=essential", "--format=null", "--include=" + strings.Join(include, ","),
		"--customize-hook=" + imageScript, string(release), "/dev/null",
		fmt.Sprintf("deb [arch=amd64 signed-by=%s] %s %s main", keyring, mirror(t), release),
	}
	recipe := slices.Clone(args)
	for _, f := range imageFiles {
		recipe = append(recipe, f.name, f.mode.String(), string(f.text))
	}
	dir := cached(t, "root-"+string(release), recipe, func(dir string) error {
		ctx, cancel := context.WithTimeout(t.Context(), buildWithin)
		defer cancel()
		return buildImage(ctx, dir, args)
	})
	return Image{Disk: filepath.Join(dir, "disk"), Kernel: kernel(t, release, "amd64")}
}

func buildImage(ctx context.Context, dir string, args []string) error {
	own := filepath.Join(dir, "own")
	if err := writeTar(own, imageFiles); err != nil {
		return err
	}
	defer os.Remove(own)
	archive, err := os.Open(own)
	if err != nil {
		return err
	}
	defer archive.Close()
	disk, err := os.Create(filepath.Join(dir, "disk"))
	if err != nil {
		return err
	}
	defer disk.Close()
	if err := disk.Chmod(0o666); err != nil { // mmdebstrap of an ordinary user is another one
		return err
	}
	command := exec.CommandContext(ctx, "mmdebstrap", args...)
	command.Env = append(os.Environ(), fmt.Sprint("OFFSET=", partitionStart), fmt.Sprint("SIZE=", partitionSize>>10, "k"))
	command.ExtraFiles = []*os.File{disk, archive}
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	if err := command.Run(); err != nil {
		return fmt.Errorf("mmdebstrap: %w\n%s", err, tail(output.Bytes()))
	}
	_, err = disk.WriteAt(partitionTable(), 0)
	return errors.Join(err, disk.Truncate(partitionStart+partitionSize), disk.Chmod(0o644))
}

// A kernel without an initrd finds its root file system by a device's name, which since 6.12 is any, or by a partition's ID.
const (
	partitionID    = "5a4d6264-01"
	partitionStart = 1 << 20
	partitionSize  = 2 << 30 // the file is sparse
)

// partitionTable is a master boot record with one partition, of Linux.
func partitionTable() []byte {
	const sector = 512
	record := make([]byte, sector)
	binary.LittleEndian.PutUint32(record[440:], 0x5a4d6264) // the disk's ID
	partition := record[446:]
	partition[4] = 0x83
	binary.LittleEndian.PutUint32(partition[8:], partitionStart/sector)
	binary.LittleEndian.PutUint32(partition[12:], partitionSize/sector)
	copy(record[510:], "\x55\xaa")
	return record
}

// tail is the end of a log, as much as a person reads.
func tail(log []byte) []byte {
	const most = 8 << 10
	return log[max(0, len(log)-most):]
}
