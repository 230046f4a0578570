package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandboxd/sandboxd"
	"github.com/sandboxd/sandboxd/internal/rpc"
)

// admin is a connection to the daemon's socket for administrators.
type admin struct {
	peer *rpc.Peer
	done chan struct{}
}

// adminWait bounds an answer: the daemon that gives none is asked for nothing that takes long.
const adminWait = 30 * time.Second

// dialAdmin connects to the socket: as the option says, else the environment.
func dialAdmin(ctx context.Context, option string) (*admin, error) {
	socket := cmp.Or(option, os.Getenv("SANDBOXD_ADMIN_SOCKET"), sandboxd.DefaultAdminSocket)
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", socket)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil, hinted{fmt.Errorf("connect to sandboxd: %w", err), "join the group that may use it (ls -l shows it), and log in again"}
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return nil, hinted{fmt.Errorf("connect to sandboxd: %w", err),
			"sudo systemctl enable sandboxd-admin.socket && sudo systemctl restart sandboxd; a daemon in the foreground wants --admin PATH, and sandboxctl --socket PATH"}
	case err != nil:
		return nil, fmt.Errorf("connect to sandboxd: %w", err)
	}
	none := func(context.Context, *rpc.Request) (any, error) {
		return nil, rpc.Errorf(rpc.CodeUnknownMethod, "an administrator answers nothing")
	}
	a := &admin{rpc.New(conn, rpc.Options{Handle: none, MaxLine: maxAdminLine, MaxRequests: 1, WriteWait: adminWait}), make(chan struct{})}
	go func() {
		defer close(a.done)
		_ = a.peer.Run(context.Background()) // why it ended is in what ask returns
	}()
	return a, nil
}

// asking is a verb that takes n arguments, asks the daemon whose socket the flag names, and prints to out.
func asking(socket *string, use, short string, n int, do func(ctx context.Context, a *admin, out *bufio.Writer, args []string) error) *cobra.Command {
	return verb(use, short, n, n, func(c *cobra.Command, args []string) error {
		a, err := dialAdmin(c.Context(), *socket)
		if err != nil {
			return err
		}
		defer a.close()
		out := bufio.NewWriter(c.OutOrStdout())
		err = do(c.Context(), a, out, args)
		return errors.Join(err, out.Flush())
	})
}

// maxAdminLine is what one request that waits can take at most, and a list never.
const maxAdminLine = 32 << 20

// adminSocketFlag adds --socket to the flags whose StringVar it is given.
func adminSocketFlag(stringVar func(p *string, name, value, usage string), socket *string) {
	stringVar(socket, "socket", "", "the daemon's socket for administrators (default $SANDBOXD_ADMIN_SOCKET, then "+sandboxd.DefaultAdminSocket+")")
}

func (a *admin) close() {
	a.peer.Close()
	<-a.done
}

// ask calls a method. What the daemon says is safe to print.
func (a *admin) ask(ctx context.Context, method string, params, result any) error {
	ctx, cancel := context.WithTimeout(ctx, adminWait)
	defer cancel()
	response, err := a.peer.Call(ctx, method, params)
	if err != nil && ctx.Err() == nil { // it hung up, and may have said why
		select {
		case <-a.done:
		case <-ctx.Done():
		}
		if refusal := a.peer.Refusal(); refusal != nil {
			err = refusal
		}
	}
	defer response.Release()
	if err == nil && response.Err != nil {
		err = response.Err
	}
	if err != nil {
		return errors.New(printableLines(err.Error()))
	}
	if err := json.Unmarshal(response.Result, result); err != nil {
		return fmt.Errorf("%s: read the daemon's answer: %w", method, err)
	}
	return nil
}
