//go:build !cgo

package jail_test

const usesCgo = false
