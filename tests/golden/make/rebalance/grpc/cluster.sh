#!/bin/bash
# cluster.sh SERVER_JARS CLIENT_JARS OUT: a name server, a broker, a proxy and gRPC consumers in a network of their own
# (`unshare -n -m`); logs below OUT/user/logs. SERVER_JARS: rocketmq-proxy, -tools and -namesrv of one release.
# CLIENT_JARS: rocketmq-client-java and annotations-api; compile Grpc.java into it first.
set -f
L=$1; C=$2; O=$3; ip link set lo up; mkdir -p $O/home/conf $O/user
J="java -Xmx700m -XX:MaxDirectMemorySize=512m --add-exports=java.base/sun.nio.ch=ALL-UNNAMED -Duser.home=$O/user -cp $L/*"
export ROCKETMQ_HOME=$O/home NAMESRV_ADDR=127.0.0.1:9876
cat > $O/b.conf <<X
brokerClusterName=DefaultCluster
brokerName=b1
namesrvAddr=127.0.0.1:9876
brokerIP1=127.0.0.1
listenPort=10911
storePathRootDir=$O/store
mapedFileSizeCommitLog=16777216
autoCreateTopicEnable=false
enablePopLog=true
X
echo '{"rocketMQClusterName":"DefaultCluster","namesrvAddr":"127.0.0.1:9876","grpcServerPort":8081}' > $O/home/conf/rmq-proxy.json
$J org.apache.rocketmq.namesrv.NamesrvStartup >$O/ns.out 2>&1 & N=$!
sleep 6
$J org.apache.rocketmq.broker.BrokerStartup -c $O/b.conf >$O/b.out 2>&1 & B=$!
sleep 14
$J org.apache.rocketmq.proxy.ProxyStartup -pm cluster -n 127.0.0.1:9876 >$O/p.out 2>&1 & P=$!
sleep 8
M="$J org.apache.rocketmq.tools.command.MQAdminStartup"
for t in Gn:NORMAL Gd:DELAY Gf:FIFO; do
  $M updateTopic -b 127.0.0.1:10911 -t ${t%:*} -r 4 -w 4 -a +message.type=${t#*:}
done >$O/adm.out 2>&1
for g in GPush:false GFifo:true GSimple:false; do
  $M updateSubGroup -b 127.0.0.1:10911 -g ${g%:*} -o ${g#*:} -r 3
done >>$O/adm.out 2>&1
java -Duser.home=$O/user -cp $C:$C/* Grpc 70 >$O/g.out 2>&1
sleep 25; kill $P; sleep 3; kill $B; sleep 10; kill $N
