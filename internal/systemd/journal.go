package systemd

import "github.com/coreos/go-systemd/v22/journal"

// Journal sends an entry with fields to the system's journal; nil where there is none.
func Journal() func(message string, fields map[string]string) error {
	if !journal.Enabled() {
		return nil
	}
	return func(message string, fields map[string]string) error {
		return journal.Send(message, journal.PriInfo, fields)
	}
}
