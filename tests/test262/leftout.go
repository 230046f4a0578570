//go:build sandboxd_test262

package main

// What can't be run is left out and counted as such: the tests of what programs do not have, by design. All else runs,
// and fails if it does.
const (
	noModules  = "programs are no modules: there is one text, and nothing to load others from"
	noThreads  = "a worker is one thread, and its system call filter forbids more"
	noRealm    = "an engine has one realm, and programs have no way to make another"
	noTemporal = "Temporal is not supplied"
)

var leftOutFlags = map[string]string{
	"module": noModules,
}

var leftOutFeatures = map[string]string{
	"dynamic-import":                       noModules,
	"export-star-as-namespace-from-module": noModules,
	"import-attributes":                    noModules,
	"import-bytes":                         noModules,
	"import-defer":                         noModules,
	"import-text":                          noModules,
	"import.meta":                          noModules,
	"json-modules":                         noModules,
	"source-phase-imports":                 noModules,
	"source-phase-imports-module-source":   noModules,
	"Atomics":                              noThreads,
	"Atomics.pause":                        noThreads,
	"Atomics.waitAsync":                    noThreads,
	"SharedArrayBuffer":                    noThreads,
	"cross-realm":                          noRealm,
	"ShadowRealm":                          noRealm,
	"Temporal":                             noTemporal,
	"IsHTMLDDA":                            "document.all is of browsers",
	"tail-call-optimization":               "no engine but one has it, and node does not",
}

// leftOut is why a test is not run; empty: it is.
func (m *meta) leftOut() string {
	for _, flag := range m.Flags {
		if why := leftOutFlags[flag]; why != "" {
			return why
		}
	}
	for _, feature := range m.Features {
		if why := leftOutFeatures[feature]; why != "" {
			return why
		}
	}
	return ""
}
