//go:build linux

package attack

// This architecture has no calls of its own: it has no older ones, and no other way into the kernel.
var nativeFiles, nativeExecution, nativeMemory, nativeKernel, nativeDescriptors, nativeNumbers, nativeLifetime []Attack
