package machine

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// file is a regular file of a guest.
type file struct {
	name string // absolute
	mode fs.FileMode
	host string // where its content is, unless text has it
	text []byte
}

func (f file) content() (io.ReadCloser, int64, error) {
	if f.host == "" {
		return io.NopCloser(bytes.NewReader(f.text)), int64(len(f.text)), nil
	}
	in, err := os.Open(f.host)
	if err != nil {
		return nil, 0, err
	}
	info, err := in.Stat()
	if err != nil {
		in.Close()
		return nil, 0, err
	}
	return in, info.Size(), nil
}

// expand lists what the host has under the paths, sorted by the guest's names: a directory stands for all below it.
func expand(paths map[string]string) ([]file, error) {
	var all []file
	for guest, host := range paths {
		if !path.IsAbs(guest) || path.Clean(guest) != guest {
			return nil, fmt.Errorf("guest path %q: must be absolute and clean", guest)
		}
		err := filepath.WalkDir(host, func(at string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			info, err := os.Stat(at)
			if err != nil {
				return err
			}
			if !info.Mode().IsRegular() {
				return fmt.Errorf("%s is no regular file (%v): a guest gets nothing else", at, info.Mode())
			}
			below, err := filepath.Rel(host, at)
			all = append(all, file{name: path.Join(guest, filepath.ToSlash(below)), mode: info.Mode().Perm(), host: at})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(all, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return all, nil
}

// writeTar writes the files as root's. Directories have no entries: what the guest has keeps its mode.
func writeTar(to string, files []file) (err error) {
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	w := tar.NewWriter(out)
	for _, f := range files {
		in, size, err := f.content()
		if err != nil {
			return err
		}
		err = w.WriteHeader(&tar.Header{Name: strings.TrimPrefix(f.name, "/"), Mode: int64(f.mode), Size: size})
		if err == nil {
			_, err = io.Copy(w, in)
		}
		in.Close()
		if err != nil {
			return fmt.Errorf("pack %s: %w", f.name, err)
		}
	}
	return w.Close()
}

// maxResults is the size of the disk for results: it bounds what a guest can make the host store.
const maxResults = 128 << 20

// errNoResults means that the guest ended before it had written any.
var errNoResults = errors.New("it left no results")

// readResults reads the archive of /results that a guest wrote to its last disk.
func readResults(disk string) (Result, error) {
	in, err := os.Open(disk)
	if err != nil {
		return Result{}, err
	}
	defer in.Close()
	found := make(map[string]string)
	for entries := tar.NewReader(in); ; {
		entry, err := entries.Next()
		switch {
		case errors.Is(err, io.EOF):
			return newResult(found)
		case err != nil:
			return Result{}, fmt.Errorf("%w: %w", errNoResults, err)
		case entry.Typeflag != tar.TypeReg:
			continue
		}
		text, err := io.ReadAll(io.LimitReader(entries, maxResults))
		if err != nil {
			return Result{}, fmt.Errorf("%w: %s: %w", errNoResults, entry.Name, err)
		}
		found[path.Clean(entry.Name)] = string(text)
	}
}

// directories are the parents of the files, parents first, without the root.
func directories(files []file) []string {
	seen := make(map[string]bool)
	for _, f := range files {
		for dir := path.Dir(f.name); dir != "/"; dir = path.Dir(dir) {
			seen[dir] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}
