//go:build race

package js_test

const raceDetector = true
