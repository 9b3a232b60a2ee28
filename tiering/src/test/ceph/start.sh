#!/usr/bin/env bash
# A Ceph Object Gateway over one monitor and one object store daemon, all of this machine, for tests.
# start.sh DIR PORT: data, logs and the daemons' pid files go into DIR; the gateway serves S3 on 127.0.0.1:PORT for the user
# varve-access / varve-secret. Ends with 0 once it serves. stop: kill what DIR/*.pid name.
set -euo pipefail
dir=$1 port=$2 monitor=$(($2 + 1))
export CEPH_CONF=$dir/ceph.conf
mkdir -p "$dir"/mon "$dir"/osd "$dir"/run
touch "$dir/keyring"
cluster=$(cat /proc/sys/kernel/random/uuid)

cat >"$CEPH_CONF" <<END
[global]
fsid = $cluster
mon host = v2:127.0.0.1:$monitor
public addr = 127.0.0.1
cluster addr = 127.0.0.1
auth cluster required = none
auth service required = none
auth client required = none
ms mon client mode = crc
mon allow pool size one = true
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 8
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
osd objectstore = bluestore
bluestore block size = 4294967296
osd memory target = 939524096
mon data = $dir/mon
osd data = $dir/osd
run dir = $dir/run
admin socket = $dir/run/\$name.asok
log file = $dir/\$name.log
keyring = $dir/keyring
crash dir = $dir
[client.rgw.test]
rgw frontends = beast endpoint=127.0.0.1:$port
rgw enable usage log = false
END

start() { # start NAME COMMAND...
  local name=$1
  shift
  "$@" >"$dir/$name.out" 2>&1 &
  echo $! >"$dir/$name.pid"
}

await() { # await SECONDS COMMAND...
  local until=$((SECONDS + $1))
  shift
  until "$@"; do
    [ $SECONDS -lt $until ] || return 1
    read -rt 0.3 <> <(:) || :
  done
}

serves() { (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; }
is_up() { timeout 10 ceph osd stat 2>/dev/null | grep -q '1 up'; }

monmaptool --create --addv a "[v2:127.0.0.1:$monitor]" --fsid "$cluster" "$dir/monmap" >"$dir/setup.log"
ceph-mon -i a --mkfs --monmap "$dir/monmap" >>"$dir/setup.log" 2>&1
start mon ceph-mon -i a -f
store=$(cat /proc/sys/kernel/random/uuid)
timeout 60 ceph osd new "$store" 0 >>"$dir/setup.log" 2>&1
ceph-osd -i 0 --mkfs --osd-uuid "$store" >>"$dir/setup.log" 2>&1
start osd ceph-osd -i 0 -f
await 120 is_up
timeout 120 radosgw-admin user create --uid=varve --display-name=varve \
  --access-key=varve-access --secret-key=varve-secret >"$dir/user.json" 2>>"$dir/setup.log"
start gateway radosgw -n client.rgw.test -f
await 120 serves
