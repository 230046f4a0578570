package profile_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd/internal/profile"
)

// leaves are the fields of a profile that a file can set, by their keys: all of them, by reflection, so that one that is
// added can't be forgotten.
func leaves(t *testing.T, p *profile.Profile) map[string]reflect.Value {
	t.Helper()
	found := make(map[string]reflect.Value)
	var walk func(v reflect.Value, path string)
	walk = func(v reflect.Value, path string) {
		for i := range v.NumField() {
			key, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
			switch {
			case key == "-":
			case key == "":
				t.Fatalf("%s.%s has no key", v.Type(), v.Type().Field(i).Name)
			case v.Field(i).Kind() == reflect.Struct:
				walk(v.Field(i), path+key+".")
			default:
				found[path+key] = v.Field(i)
			}
		}
	}
	walk(reflect.ValueOf(p).Elem(), "")
	return found
}

// widen changes a field by what is least, towards what allows more.
func widen(t *testing.T, key string, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + ", and more")
	case reflect.Int, reflect.Int64:
		step := int64(1)
		if key == "jail.landlock_abi" {
			step = -1
		}
		v.SetInt(v.Int() + step)
	case reflect.Float64:
		v.SetFloat(v.Float() + 0.01)
	case reflect.Slice:
		v.Set(v.Slice(0, v.Len()-1))
	default:
		t.Fatalf("%s is a %s", key, v.Kind())
	}
}

// inSpec are the keys that the jail of a worker is made of.
var inSpec = []string{"limits.cpu_ms", "limits.memory_bytes", "jail.landlock_abi"}

// TestEveryField: a field that shows nowhere is a choice that nobody can check.
func TestEveryField(t *testing.T) {
	base := builtin(t)["strict"]
	base.Limits.CPUMS = 2000 // a second more begins right after it
	for key := range leaves(t, &base) {
		t.Run(key, func(t *testing.T) {
			wide := base
			wide.Require = slices.Clone(base.Require)
			widen(t, key, leaves(t, &wide)[key])
			changes := profile.Diff(base, wide)
			if len(changes) != 1 || changes[0].Key != key {
				t.Errorf("Diff says %v", changes)
			}
			if base.YAML() == wide.YAML() {
				t.Error("YAML does not show it")
			}
			there, back := profile.Loosens(base, wide), profile.Loosens(wide, base)
			if key != "description" && (len(there) != 1 || there[0].Key != key || there[0].From == there[0].To || there[0].Opens == "") {
				t.Errorf("Loosens says %v", there)
			}
			for _, o := range there {
				_, isNumber := wide.Numbers()[key]
				if isNumber && key != "jail.landlock_abi" && !strings.Contains(o.Opens, o.To) || strings.Contains(o.Opens, "%!") {
					t.Errorf("the sentence says nothing of %s: %s", o.To, o.Opens)
				}
			}
			if key == "description" && len(there) > 0 || len(back) > 0 {
				t.Errorf("Loosens says %v there, and %v back", there, back)
			}
			was, err := base.Lower(nil)
			is, err2 := wide.Lower(nil)
			if err != nil || err2 != nil || strings.HasPrefix(key, "limits.") != (was != is) {
				t.Errorf("Lower gives %+v, %v, and %+v, %v", was, err, is, err2)
			}
			if slices.Contains(inSpec, key) && base.Spec().String() == wide.Spec().String() {
				t.Error("Spec does not have it")
			}
		})
	}
}

// TestEveryFieldOfItsFile: what is known of a file beside its text is in what sandboxctl prints with --json.
func TestEveryFieldOfItsFile(t *testing.T) {
	text, err := json.Marshal(builtin(t)["strict"])
	if err != nil {
		t.Fatal(err)
	}
	var printed map[string]any
	if err := json.Unmarshal(text, &printed); err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for key := range printed {
		got = append(got, key)
	}
	for i := range reflect.TypeFor[profile.Profile]().NumField() {
		want = append(want, strings.ToLower(reflect.TypeFor[profile.Profile]().Field(i).Name))
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestLoosens(t *testing.T) {
	base := builtin(t)["default"]
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", "extends: default\n", nil},
		{"tighter", "extends: default\nlimits: {calls: 1, memory_bytes: 16777216}\njail: {landlock_abi: 7, cpus: 0.01, pids: 16}\n", nil},
		{"more layers", "extends: default\nrequire: [" + strings.Join(profile.Layers, ", ") + "]\n", nil},
		{"memory", "extends: default\nlimits: {memory_bytes: 1073741824}\n", []string{
			"limits.memory_bytes 256 MiB → 1 GiB: a program may take 1 GiB of this machine, and runs.at_once of them may do so at a time"}},
		{"no even size", "extends: default\nlimits: {output_bytes: 65537}\n", []string{
			"limits.output_bytes 64 KiB → 65537 bytes: a program may return 65537 bytes, and what it returns may reach a model"}},
		{"time", "extends: default\nlimits: {wall_ms: 90000, cpu_ms: 3600000}\n", []string{
			"limits.wall_ms 30 s → 90 s: a run may hold a worker, and one place of runs.at_once, for 90 s",
			"limits.cpu_ms 5 s → 1 h: a program may keep a processor busy for 1 h"}},
		{"jail", "extends: default\njail: {cpus: 1.5, pids: 25}\n", []string{
			"jail.cpus 1 → 1.5: one worker may keep 1.5 processors busy, and others wait for them",
			"jail.pids 24 → 25: a worker that gets past seccomp may have 25 threads and processes"}},
		{"the other way", "extends: strict\njail: {landlock_abi: 1}\n", nil},
		{"layers that no worker starts without", "extends: default\nrequire: [landlock]\n", nil},
		{"Landlock", "extends: default\nrequire: [seccomp]\n", []string{
			"require landlock → not required: a kernel will do whose Landlock denies less than jail.landlock_abi asks for; seccomp denies it too"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := profile.Parse("mine", []byte(tt.text), builtin(t))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, o := range profile.Loosens(base, p) {
				got = append(got, o.String())
			}
			var layers []string // that the built-in profiles come to require show as well
			for _, line := range got {
				if !strings.HasPrefix(line, "require cgroup") && !strings.HasPrefix(line, "require namespaces") {
					layers = append(layers, line)
				}
			}
			if diff := cmp.Diff(tt.want, layers); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(profile.Loosens(base, p), p.Openings); diff != "" {
				t.Errorf("found at reading: %s", diff)
			}
		})
	}
}

// TestOpensEachLayer: a layer that is added says what it is for.
func TestOpensEachLayer(t *testing.T) {
	all := profile.Profile{Require: profile.Layers}
	openings := profile.Loosens(all, profile.Profile{})
	var layers []string
	for _, o := range openings {
		layers = append(layers, o.From)
	}
	if want := []string{"landlock", "cgroup", "namespaces"}; !slices.Equal(layers, want) { // without the others no worker starts
		t.Errorf("openings for %v, want %v", layers, want)
	}
	for _, o := range openings {
		if o.Opens == "" {
			t.Errorf("nothing is said of %s", o.From)
		}
	}
}

// TestBase: a profile is held against the built-in one of its name, and default for a name of its own.
func TestBase(t *testing.T) {
	for name, want := range map[string]int{"strict": 1, "mine": 0} {
		p, err := profile.Parse(name, []byte("extends: strict\njail: {landlock_abi: 5}\n"), builtin(t))
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Openings) != want {
			t.Errorf("%s opens %v, want %d", name, p.Openings, want)
		}
	}
}
