# mmdebstrap runs this on a root directory, $1, in which the packages are installed. Descriptor 3 is the disk, and 4 an archive
# of our own files: an ordinary user's mmdebstrap is another user, who could not reach them by their paths.
set -eu
tar -xf /dev/fd/4 -C "$1"
chroot "$1" useradd --create-home --shell /bin/sh --uid 1000 user
# The user manager is there from the start: one that comes and goes with each session costs seconds.
mkdir -p "$1/var/lib/systemd/linger"
touch "$1/var/lib/systemd/linger/user"
ln -s ../vm.service "$1/etc/systemd/system/multi-user.target.wants/vm.service"
# Nobody sits at the console, and there are no modules.
for unit in getty.target systemd-modules-load.service; do ln -s /dev/null "$1/etc/systemd/system/$unit"; done
rm -r "$1/var/lib/apt/lists"
# In the first partition of the disk. /proc, /sys and /dev are mounted below $1, but not below what is bound to /mnt.
unshare --mount sh -eu -c '
	mount --bind "$1" /mnt
	PATH=/usr/sbin:/sbin:$PATH exec mke2fs -q -F -t ext4 -O ^has_journal -E "offset=$2" -d /mnt /dev/fd/3 "$3"
' - "$1" "$OFFSET" "$SIZE"
