package machine

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sandboxd/sandboxd/tests/skip"
)

// Package names in Debian of what is needed here.
var packages = map[string]string{
	"apt-get":             "apt",
	"dpkg-deb":            "dpkg",
	"mke2fs":              "e2fsprogs",
	"mmdebstrap":          "mmdebstrap",
	"qemu-system-aarch64": "qemu-system-arm",
	"qemu-system-x86_64":  "qemu-system-x86",
	"unshare":             "util-linux",
}

// need skips the test unless it was asked for and the programs are there.
func need(t testing.TB, programs ...string) {
	t.Helper()
	if os.Getenv("SANDBOXD_VM") != "1" {
		skip.Because(t, "it takes minutes: make vm runs it (SANDBOXD_VM=1)")
	}
	for _, program := range programs {
		if program == "mke2fs" { // not on the path of an ordinary user
			if _, err := os.Stat(filepath.Join("/sbin", program)); err == nil {
				continue
			}
		}
		if _, err := exec.LookPath(program); err != nil {
			skip.Because(t, "there is no %s: apt-get install %s", program, packages[program])
		}
	}
}
