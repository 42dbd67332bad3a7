#!/bin/bash
# proxied.sh SERVER_JARS CLIENT_JARS OUT: as cluster.sh, with a folder of logs for each process (OUT/user/NAME/logs), a
# producer of transactions of which half are never ended, consumers that come, leave and are killed, and a slow one that
# needs no proxy. Compile Drv.java into CLIENT_JARS and Rem.java into SERVER_JARS first.
set -f
L=$1; C=$2; O=$3; ip link set lo up; mkdir -p $O/home/conf $O/user
JJ() { local h=$1; shift; exec java -Xmx500m -XX:TieredStopAtLevel=1 -XX:MaxDirectMemorySize=512m --add-exports=java.base/sun.nio.ch=ALL-UNNAMED -Duser.home=$O/user/$h -cp "$L/*" "$@"; }
export ROCKETMQ_HOME=$O/home NAMESRV_ADDR=127.0.0.1:9876
cat > $O/b.conf <<Y
brokerClusterName=DefaultCluster
brokerName=b1
namesrvAddr=127.0.0.1:9876
brokerIP1=127.0.0.1
listenPort=10911
storePathRootDir=$O/store
mappedFileSizeCommitLog=16777216
autoCreateTopicEnable=false
enablePopLog=true
transactionTimeOut=6000
transactionCheckInterval=10000
transactionCheckMax=3
Y
echo '{"rocketMQClusterName":"DefaultCluster","namesrvAddr":"127.0.0.1:9876","grpcServerPort":8081}' > $O/home/conf/rmq-proxy.json
JJ namesrv org.apache.rocketmq.namesrv.NamesrvStartup >$O/ns.out 2>&1 & N=$!
sleep 5
JJ broker org.apache.rocketmq.broker.BrokerStartup -c $O/b.conf >$O/b.out 2>&1 & B=$!
sleep 12
JJ proxy org.apache.rocketmq.proxy.ProxyStartup -pm cluster -n 127.0.0.1:9876 >$O/p.out 2>&1 & P=$!
sleep 8
M="JJ tool org.apache.rocketmq.tools.command.MQAdminStartup"
for t in Gn:NORMAL Gt:TRANSACTION Gf:FIFO; do ( $M updateTopic -b 127.0.0.1:10911 -t ${t%:*} -r 4 -w 4 -a +message.type=${t#*:}) ; done >$O/adm.out 2>&1
for g in GPush:false GFifo:true GSimple:false; do ( $M updateSubGroup -b 127.0.0.1:10911 -g ${g%:*} -o ${g#*:} -r 3) ; done >>$O/adm.out 2>&1
JC="java -Xmx200m -XX:TieredStopAtLevel=1"
ev() { echo "$(date +%s%3N) $*" >> $O/events; }
$JC -Duser.home=$O/user/send -cp $C:$C/* Drv send x x 230 >$O/send.out 2>&1 & S=$!
ev start p1; $JC -Duser.home=$O/user/p1 -cp $C:$C/* Drv push GPush Gn 110 >$O/p1.out 2>&1 & P1=$!
$JC -Duser.home=$O/user/f1 -cp $C:$C/* Drv push GFifo Gf 190 >$O/f1.out 2>&1 & F1=$!
$JC -Duser.home=$O/user/s1 -cp $C:$C/* Drv simple GSimple Gn 150 >$O/s1.out 2>&1 & S1=$!
$JC -Duser.home=$O/user/r1 -Drocketmq.client.logUseSlf4j=false -cp $L:$L/* Rem GRem r1 Gn 60 330 "*" >$O/r1.out 2>&1 & R1=$!
sleep 40; ev start p2; $JC -Duser.home=$O/user/p2 -cp $C:$C/* Drv push GPush Gn 300 >$O/p2.out 2>&1 & P2=$!
sleep 50; ev kill p2; kill -9 $P2
sleep 40; wait $P1 $S $F1 $S1 $R1
sleep 30; kill $P; sleep 4; kill $B; sleep 10; kill $N
