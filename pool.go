package sandboxd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"syscall"
	"time"
)

// PoolOptions are how a Pool connects. Path and Options.Name must be set.
type PoolOptions struct {
	Path string        // of the daemon's socket
	Size int           // connections, at most; 0: 4
	Wait time.Duration // for a daemon that can't be reached just now, such as one that is restarted; 0: 60 s, as it may drain for 30

	Options // of each connection; handlers and callbacks are called by all of them
}

// Pool executes programs over several connections, so that a large message of one does not keep the others waiting. It dials when it needs
// to, and again when a connection has ended: a daemon may be restarted at any time. A program that the daemon may have begun is never sent a
// second time. Its methods may be called from several goroutines.
type Pool struct {
	size    int           // set by NewPool, then read-only
	path    string        // likewise
	wait    time.Duration // likewise
	dialing chan struct{} // holds one token; whoever has it dials
	closing context.Context
	close   context.CancelFunc

	mu      sync.Mutex // guards the fields below
	options Options    // what new connections announce
	round   int        // of announcements; connections of an earlier one get no more users
	members []*member
}

// member is a connection of a pool.
type member struct {
	*Client
	users int
	round int // of announcements
}

const (
	poolSize  = 4
	poolWait  = initialWait
	absent    = 10 * time.Second // after which a socket that nobody serves is no restart: systemd's stays over one
	poolTries = 3                // connections that end before a request of ours was sent
	firstWait = 10 * time.Millisecond
	lastWait  = time.Second
)

// NewPool makes a pool. Nothing is dialled before it is used. The caller must Close it.
func NewPool(o PoolOptions) *Pool {
	p := &Pool{path: o.Path, size: o.Size, wait: o.Wait, options: o.Options, dialing: make(chan struct{}, 1)}
	if p.size <= 0 {
		p.size = poolSize
	}
	if p.wait <= 0 {
		p.wait = poolWait
	}
	p.closing, p.close = context.WithCancel(context.Background())
	p.dialing <- struct{}{}
	return p
}

// Execute is as Client's. A *ClosedError whose Sent is true means that the connection was lost while the program ran: nobody knows which of its
// calls were made, and it is for the caller to decide whether it may run again.
func (p *Pool) Execute(ctx context.Context, program Program) (r *Result, err error) {
	err = p.with(ctx, func(c *Client) (err error) { r, err = c.Execute(ctx, program); return err })
	return r, err
}

// Status is as Client's.
func (p *Pool) Status(ctx context.Context) (s StatusResult, err error) {
	err = p.with(ctx, func(c *Client) (err error) { s, err = c.Status(ctx); return err })
	return s, err
}

// Describe is as Client's.
func (p *Pool) Describe(ctx context.Context, params DescribeParams) (d DescribeResult, err error) {
	err = p.with(ctx, func(c *Client) (err error) { d, err = c.Describe(ctx, params); return err })
	return d, err
}

// Approvals are the calls that wait for an approval, of the programs of all connections.
func (p *Pool) Approvals(ctx context.Context) (all ApprovalList, err error) {
	for _, m := range p.all() {
		l, err := m.Approvals(ctx)
		if err != nil && !errors.As(err, new(*ClosedError)) { // an ended connection has no programs
			return ApprovalList{}, err
		}
		all.Approvals, all.More = append(all.Approvals, l.Approvals...), all.More+l.More
	}
	slices.SortStableFunc(all.Approvals, func(a, b ApprovalRequest) int { return a.Asked.Compare(b.Asked) })
	return all, nil
}

// Decide is as Client's: one of the connections knows the request.
func (p *Pool) Decide(ctx context.Context, params DecideParams) (d DecideResult, err error) {
	err = errors.New("sandboxd: approvals/decide: no program of this pool waits for an approval: it has no connection")
	for _, m := range p.all() {
		d, err = m.Decide(ctx, params)
		if refused := (*RefusedError)(nil); !errors.As(err, &refused) || refused.Code != CodeInvalidParams {
			return d, err
		}
	}
	return d, err
}

// Announce changes which servers and tools there are. Programs that run go on with those that there were when they began.
func (p *Pool) Announce(servers []string, tools []Tool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.options.Servers, p.options.Announce = servers, tools
	p.round++
	p.retire()
}

// Close hangs up, which ends all programs. It returns when every handler has.
func (p *Pool) Close() error {
	p.close()
	<-p.dialing // nothing is added any more
	p.dialing <- struct{}{}
	var errs []error
	for _, m := range p.all() {
		errs = append(errs, m.Close())
	}
	return errors.Join(errs...)
}

// with does something by a connection, and by another if that one ended before anything was sent.
func (p *Pool) with(ctx context.Context, do func(*Client) error) (err error) {
	for range poolTries {
		var m *member
		if m, err = p.take(ctx); err != nil {
			return err
		}
		err = do(m.Client)
		p.release(m)
		if closed := (*ClosedError)(nil); !errors.As(err, &closed) || closed.Sent {
			return err
		}
	}
	return err
}

// take returns the connection with the fewest users, and a new one rather than one that has any. The caller must release it.
func (p *Pool) take(ctx context.Context) (*member, error) {
	if m := p.pick(p.size); m != nil {
		return m, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, p.wait, fmt.Errorf("no connection within %s", p.wait))
	defer cancel()
	select {
	case <-p.dialing:
		defer func() { p.dialing <- struct{}{} }()
	case <-ctx.Done():
		return nil, fmt.Errorf("sandboxd: %w", context.Cause(ctx))
	}
	stop := context.AfterFunc(p.closing, cancel)
	defer stop()
	began := time.Now()
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		if p.closing.Err() != nil {
			return nil, fmt.Errorf("sandboxd: the pool is closed: %w", &ClosedError{})
		}
		if m := p.pick(p.size); m != nil { // another has dialled meanwhile
			return m, nil
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("sandboxd: %w", context.Cause(ctx))
		}
		m, err := p.dial(ctx)
		if err == nil {
			return m, nil
		}
		if m := p.pick(0); m != nil { // one that others use, rather than none
			return m, nil
		}
		if errors.As(err, new(*RefusedError)) {
			return nil, err // by the daemon's own word, which another try does not change
		}
		if nobody := errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED); nobody && time.Since(began) > absent {
			return nil, err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, err
		}
	}
}

// pick takes a connection that nobody uses, or the least used one if there are size.
func (p *Pool) pick(size int) *member {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.retire()
	var least *member
	for _, m := range p.members {
		if m.round == p.round && (least == nil || m.users < least.users) {
			least = m
		}
	}
	if least == nil || least.users > 0 && len(p.members) < size {
		return nil
	}
	least.users++
	return least
}

// dial adds a connection, which has one user. The caller has the token.
func (p *Pool) dial(ctx context.Context) (*member, error) {
	p.mu.Lock()
	m, options := &member{users: 1, round: p.round}, p.options
	p.mu.Unlock()
	var err error
	if m.Client, err = Dial(ctx, p.path, options); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.members = append(p.members, m)
	return m, nil
}

func (p *Pool) release(m *member) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m.users--
	p.retire()
}

// retire forgets connections that have ended, and hangs up on those whose announcement does not hold any more once nobody uses them. The
// caller has the lock.
func (p *Pool) retire() {
	p.members = slices.DeleteFunc(p.members, func(m *member) bool {
		if m.round != p.round && m.users == 0 {
			m.peer.Close()
		}
		select {
		case <-m.Done():
			return true
		default:
			return false
		}
	})
}

// all are the connections.
func (p *Pool) all() []*member {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.members)
}
