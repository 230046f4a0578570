package jail

import "golang.org/x/sys/unix"

// Filled is the filter of this architecture, as it is loaded.
func Filled(epoll, event, pid int) ([]unix.SockFilter, error) {
	return fill(program, descriptors{epoll, event, pid})
}

// Step is one step of Enter.
type Step struct {
	Name string
	Do   func() error
}

// Steps takes Enter apart. The caller locks its thread and takes them in order.
func Steps(s Spec) ([]Step, *Report) {
	e := &entry{spec: s}
	var all []Step
	for _, s := range steps {
		all = append(all, Step{s.name, func() error { return s.do(e) }})
	}
	return all, &e.report
}
