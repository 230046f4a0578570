// Package profiles holds the profiles that come with the daemon: one YAML file each.
package profiles

import "embed"

// Files has NAME.yaml for every profile.
//
//go:embed *.yaml
var Files embed.FS
