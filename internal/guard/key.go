package guard

import (
	"fmt"

	"github.com/sandboxd/sandboxd/internal/ownfile"
	"github.com/sandboxd/sandboxd/internal/remote"
)

const maxKey = 4 << 10 // a header of more is refused by most servers

// readKey reads the key. No error shows what is in its file.
func readKey(name string) (string, error) {
	text, path, err := remote.Secret(name, maxKey)
	if err != nil {
		return "", err
	}
	key, ok := ownfile.Secret(text)
	switch {
	case key == "":
		return "", fmt.Errorf("%s is empty", path)
	case !ok:
		return "", fmt.Errorf("%s is no key: it has more than one line, a space, or what is not ASCII", path)
	}
	return key, nil
}
