// Command nothing is a Go program that does nothing. What one takes, from its start to its end, is the measure of a machine for the
// birth of a worker, which is another Go program.
package main

func main() {}
