package upstream

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// maxMessage bounds one message of a server, in bytes. A result may have 4 MiB, and JSON in a JSON string grows.
const maxMessage = 16 << 20

// lines reads lines of up to maxMessage bytes.
type lines struct {
	in   *bufio.Reader
	last int // size of the last long line: the next is often about as long, and growing a slice copies megabytes
}

func newLines(in io.Reader) *lines { return &lines{in: bufio.NewReaderSize(in, 64<<10)} }

// next returns a line with its end; the caller owns it.
func (l *lines) next() (line []byte, err error) {
	for {
		part, err := l.in.ReadSlice('\n')
		if len(line)+len(part) > maxMessage {
			return nil, fmt.Errorf("server sent a message of more than %d bytes", maxMessage)
		}
		long := errors.Is(err, bufio.ErrBufferFull)
		if long && line == nil {
			line = make([]byte, 0, max(4*len(part), l.last+l.last/16))
		}
		line = append(line, part...)
		if long {
			continue
		}
		if len(line) > len(part) {
			l.last = len(line)
		}
		return line, err
	}
}
