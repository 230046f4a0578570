package jail

// zeroLimits are the rlimits that are 0, for every worker. There is no nproc: it counts by uid, so
// that one worker could starve another; the filter and pids.max do that.
var zeroLimits = []string{"fsize", "core", "memlock", "msgqueue", "nice", "rtprio", "nofile"}
