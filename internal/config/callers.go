package config

import (
	"fmt"
	"os"
	"os/user"
	"slices"
	"strconv"
)

// Allowed are callers as numbers.
type Allowed struct{ UIDs, GIDs []uint32 }

// Resolve looks names up. A name that does not exist is an error: it would silently allow nobody.
func (c Callers) Resolve() (Allowed, error) {
	return resolve("callers", c.UIDs, c.GIDs, uint32(os.Geteuid()))
}

// Resolve looks names up, like that of Callers.
func (a Admins) Resolve() (Allowed, error) {
	return resolve("admins", a.UIDs, a.GIDs, uint32(os.Geteuid()), 0)
}

// resolve looks up the names at a key; without any it is the users own.
func resolve(key string, uids, gids []string, own ...uint32) (Allowed, error) {
	var a Allowed
	for _, name := range uids {
		id, err := number(name, func() (string, error) {
			u, err := user.Lookup(name)
			if err != nil {
				return "", err
			}
			return u.Uid, nil
		})
		if err != nil {
			return a, fmt.Errorf("%s.uids: %w", key, err)
		}
		a.UIDs = append(a.UIDs, id)
	}
	for _, name := range gids {
		id, err := number(name, func() (string, error) {
			g, err := user.LookupGroup(name)
			if err != nil {
				return "", err
			}
			return g.Gid, nil
		})
		if err != nil {
			return a, fmt.Errorf("%s.gids: %w", key, err)
		}
		a.GIDs = append(a.GIDs, id)
	}
	if len(uids)+len(gids) == 0 {
		a.UIDs = slices.Compact(own)
	}
	return a, nil
}

func number(name string, lookup func() (string, error)) (uint32, error) {
	if id, err := strconv.ParseUint(name, 10, 32); err == nil {
		return uint32(id), nil
	}
	text, err := lookup()
	if err != nil {
		return 0, err
	}
	id, err := strconv.ParseUint(text, 10, 32)
	return uint32(id), err
}
