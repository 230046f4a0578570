package audit

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// older is a file of a log that is written no more. Its name begins with the number of its first line: names sort by
// age, even where the clock was set back.
type older struct {
	path  string
	first uint64
	began time.Time // to the second
}

const (
	seqDigits  = 12
	nameLayout = "20060102T150405Z"
)

// olderName is the name of a file whose first line has that number and time.
func olderName(path string, first uint64, began time.Time) string {
	stem, ext := split(path)
	return fmt.Sprintf("%s-%0*d-%s%s", stem, seqDigits, first, began.UTC().Format(nameLayout), ext)
}

// list finds the older files of the log at path, the oldest first.
func list(path string) ([]older, error) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("list the audit log: %w", err)
	}
	stem, ext := split(path)
	var all []older
	for _, entry := range entries {
		middle, isOurs := strings.CutPrefix(entry.Name(), stem+"-")
		middle, hasExt := strings.CutSuffix(middle, ext)
		number, began, _ := strings.Cut(middle, "-")
		first, wrong := strconv.ParseUint(number, 10, 64)
		at, wrongToo := time.Parse(nameLayout, began)
		if isOurs && hasExt && wrong == nil && wrongToo == nil && entry.Name() == olderName(path, first, at) {
			all = append(all, older{filepath.Join(filepath.Dir(path), entry.Name()), first, at})
		}
	}
	slices.SortFunc(all, func(a, b older) int { return cmp.Compare(a.first, b.first) })
	return all, nil
}

// newest is the last of a list; the zero value, if there is none.
func newest(all []older) older {
	if len(all) == 0 {
		return older{}
	}
	return all[len(all)-1]
}

// Files lists the files of the log at path, the oldest first and the one that is written last.
func Files(path string) ([]string, error) {
	all, err := list(path)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, o := range all {
		files = append(files, o.path)
	}
	if _, err := os.Stat(path); err == nil {
		files = append(files, path)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list the audit log: %w", err)
	}
	return files, nil
}
