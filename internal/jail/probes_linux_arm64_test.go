package jail_test

var nativeProbes []probe

func prepareNative(string) {}
