//go:build ignore

// zones writes the time zones of Go's distribution into one file: go run zones.go ZIP OUT. A line a name, with place and
// size of its data; an empty line; the data. The zones that are the same share it.
package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
)

func main() {
	archive, err := zip.OpenReader(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	var index, data bytes.Buffer
	places := map[string]int{}
	for _, f := range archive.File {
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		r, err := f.Open()
		if err != nil {
			log.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			log.Fatal(err)
		}
		at, ok := places[string(text)]
		if !ok {
			at = data.Len()
			places[string(text)] = at
			data.Write(text)
		}
		fmt.Fprintf(&index, "%s %d %d\n", f.Name, at, len(text))
	}
	index.WriteByte('\n')
	index.Write(data.Bytes())
	if err := os.WriteFile(os.Args[2], index.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}
