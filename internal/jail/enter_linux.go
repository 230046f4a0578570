package jail

import "fmt"

// Enter confines the whole process for good, proves it by trying what must fail, and returns what is
// in force. It is called once, after all warming; see the package comment. It blocks for about a
// millisecond. On an error the process is confined in part only, and must exit.
func Enter(s Spec) (Report, error) {
	if Unjailed {
		return Report{Seccomp: "off"}, nil
	}
	if err := s.Validate(); err != nil {
		return Report{}, fmt.Errorf("enter jail: %w", err)
	}
	e := entry{spec: s}
	for _, step := range steps {
		if !enabled(step.name) {
			continue
		}
		if err := step.do(&e); err != nil {
			return Report{}, fmt.Errorf("enter jail: %s: %w: confined in part, must exit", step.name, err)
		}
	}
	return e.report, nil
}

// entry is the state of one Enter.
type entry struct {
	spec   Spec
	own    descriptors
	report Report
}

// steps are taken in this order: each needs something that a later one takes away. Threads are
// started late, as what holds for all threads at that time holds for those that they clone; each
// that exists earlier makes the steps for all threads dearer.
var steps = []struct {
	name string
	do   func(*entry) error
}{
	{"find fds", (*entry).findDescriptors},
	{"set rlimits", (*entry).setLimits},
	{"drop capabilities", (*entry).dropCapabilities},
	{"prove rlimits", (*entry).proveLimits},
	{"clear dumpable", (*entry).clearDumpable},
	{"restrict by landlock", (*entry).landlock}, // sets no_new_privs on all threads, too
	{"prove landlock", (*entry).proveLandlock},  // needs a free fd
	{"set rlimit nofile", (*entry).forbidOpening},
	{"start threads", (*entry).startThreads},
	{"load filter", (*entry).loadFilter},
	{"prove filter", (*entry).proveFilter},
}

func (e *entry) proved(format string, args ...any) {
	e.report.Proved = append(e.report.Proved, fmt.Sprintf(format, args...))
}
