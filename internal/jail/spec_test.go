package jail_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd/internal/jail"
)

var example = jail.Spec{LandlockABI: 6, MemoryBytes: 256 << 20, CPUSeconds: 6}

func TestSpecString(t *testing.T) {
	const file = "testdata/spec.golden"
	got := example.String()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Error(diff)
	}
}

func TestSpecJSON(t *testing.T) {
	const text = `{"landlock_abi":6,"memory_bytes":268435456,"cpu_seconds":6}`
	b, err := json.Marshal(example)
	if err != nil || string(b) != text {
		t.Errorf("got %s, %v", b, err)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	var back jail.Spec
	if err := d.Decode(&back); err != nil || back != example {
		t.Errorf("got %+v, %v", back, err)
	}
}

func TestSpecValidate(t *testing.T) {
	tests := []struct {
		name string
		spec jail.Spec
		want []string // parts of the error; none: it is valid
	}{
		{"example", example, nil},
		{"zero", jail.Spec{}, []string{"landlock_abi 0", "memory_bytes 0", "cpu_seconds 0"}},
		{"negative", jail.Spec{-1, -1, -1}, []string{"landlock_abi -1", "memory_bytes -1", "cpu_seconds -1"}},
		{"overflow", jail.Spec{1, 1 << 62, 1 << 62}, []string{"memory_bytes", "cpu_seconds"}},
		{"little memory", jail.Spec{1, 1 << 20, 1}, []string{"memory_bytes 1048576"}},
	}
	for _, tt := range tests {
		err := tt.spec.Validate()
		if (err == nil) != (tt.want == nil) {
			t.Errorf("%s: got %v", tt.name, err)
		}
		for _, part := range tt.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: got %v, want %q", tt.name, err, part)
			}
		}
	}
}
