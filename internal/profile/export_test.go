package profile

import "fmt"

// Parse is how a file of the directory is read, beside the built-in profiles.
func Parse(name string, text []byte, builtin map[string]Profile) (Profile, error) {
	return parse(name, name+".yaml", text, builtin)
}

// Wrong is what check says.
func (p Profile) Wrong() string {
	if wrong := p.check(); wrong != nil {
		return fmt.Sprint(wrong)
	}
	return ""
}

// Documented is a numeric key as docs/profiles.md has it.
type Documented struct{ Default, Bounds string }

// Numbers are the numeric keys, with the values of p.
func (p Profile) Numbers() map[string]Documented {
	bounds := map[string]string{
		"jail.landlock_abi": fmt.Sprintf("%d to %d", minABI, maxABI),
		"jail.cpus":         fmt.Sprintf("%v to %v", minCPUs, maxCPUs),
		"jail.pids":         fmt.Sprintf("%d to %d", minPIDs, maxPIDs),
	}
	for _, l := range limits {
		bounds[l.key] = fmt.Sprintf("%d to %d", l.least, l.most)
	}
	numbers := make(map[string]Documented)
	for _, s := range p.settings() {
		if bounds[s.key] != "" {
			numbers[s.key] = Documented{plain(s.value), bounds[s.key]}
		}
	}
	return numbers
}
