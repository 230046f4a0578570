package machine

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// writeCPIO writes an initramfs: a cpio archive of the "newc" format (the kernel's
// Documentation/driver-api/early-userspace/buffer-format.rst), with the files as root's.
func writeCPIO(to string, files []file) (err error) {
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	w := cpio{to: bufio.NewWriter(out)}
	for _, dir := range directories(files) {
		if err := w.entry(strings.TrimPrefix(dir, "/"), 0o040755, 0, strings.NewReader("")); err != nil {
			return err
		}
	}
	for _, f := range files {
		in, size, err := f.content()
		if err != nil {
			return err
		}
		err = w.entry(strings.TrimPrefix(f.name, "/"), 0o100000|uint32(f.mode), size, in)
		in.Close()
		if err != nil {
			return fmt.Errorf("pack %s: %w", f.name, err)
		}
	}
	if err := w.entry("TRAILER!!!", 0, 0, strings.NewReader("")); err != nil {
		return err
	}
	return w.to.Flush()
}

type cpio struct {
	to      *bufio.Writer
	entries uint32
}

// entry writes a header of 13 numbers in hexadecimal, the name, and the content, the last two padded to words.
func (w *cpio) entry(name string, mode uint32, size int64, content io.Reader) error {
	if size > 1<<32-1 {
		return fmt.Errorf("%d bytes are too many for a cpio archive", size)
	}
	w.entries++
	fmt.Fprint(w.to, "070701")
	for _, field := range []uint32{
		w.entries, mode, 0, 0, // inode, mode, uid, gid
		1, 0, uint32(size), // links, modification time, size
		0, 0, 0, 0, // device of the file, and device that it is
		uint32(len(name)) + 1, 0, // size of the name with its NUL, checksum
	} {
		fmt.Fprintf(w.to, "%08x", field)
	}
	fmt.Fprint(w.to, name, "\x00")
	w.pad(6 + 13*8 + int64(len(name)) + 1)
	if n, err := io.Copy(w.to, content); err != nil || n != size {
		return fmt.Errorf("wrote %d bytes of %d: %w", n, size, err)
	}
	w.pad(size)
	return nil
}

// pad fills up a word; an error shows when the writer is flushed.
func (w *cpio) pad(written int64) { w.to.WriteString("\x00\x00\x00"[:-written&3]) }
