"""starts.py SEED VERSION...: damage copies of the old clean stores, start the real store class on each, keep what it made of them, and hold rocketlens forecast against it."""
import json, os, shutil, subprocess, sys
import compare
from damage import damage
B = "${LAB:-lab}"
OPEN = [x for p in "nio util lang lang.reflect net text util.concurrent math io".split() for x in ("--add-opens", f"java.base/java.{p}=ALL-UNNAMED")] + "--add-opens java.base/sun.nio.ch=ALL-UNNAMED --add-opens java.base/jdk.internal.ref=ALL-UNNAMED --add-exports java.base/jdk.internal.ref=ALL-UNNAMED".split()
CASES = ["clean", "abort", "noqueues", "abort-noqueues-nocheckpoint", "abort-tail", "abort-crc", "tail", "abort-shortq"]
def main(seed, v):
    O = f"{B}/out/seed-{seed}/stores/{v}-clean"; W = f"{B}/starts/{seed}-{v}"; shutil.rmtree(W, ignore_errors=True); os.makedirs(W); C = f"{B}/cls/{v}-Recover"; os.makedirs(C, exist_ok=True)
    st = json.load(open(O + "/truth/store_state.json")); open(W + "/settings.properties", "w").write("".join(f"{k}={x}\n" for k, x in st["settings"].items())); src = B + "/src"
    if v.startswith("3."):
        src = C + "/src"; os.makedirs(src, exist_ok=True)
        for f in ("O", "Recover"): open(f"{src}/{f}.java", "w").write(open(f"{B}/src/{f}.java").read().replace("org.apache.rocketmq", "com.alibaba.rocketmq").replace("ConsumeQueueExt.isExtAddr(t)", "false"))
    p = subprocess.run(["timeout", "200", "javac", "-nowarn", "-encoding", "UTF-8", "-cp", f"{B}/lib/{v}/*", "-d", C, f"{src}/O.java", f"{src}/Recover.java"], capture_output=True)
    if p.returncode: print(v, "javac", p.stderr[-400:]); return
    os.makedirs(O + "/truth/starts", exist_ok=True); cfg = sum((["--config", f"{k}={x}"] for k, x in st["settings"].items() if k in ("mappedFileSizeCommitLog", "mappedFileSizeConsumeQueue", "maxHashSlotNum", "maxIndexNum", "messageDelayLevel")), ["--config", "brokerRole=SLAVE"])
    for c in CASES:
        S = f"{W}/{c}"; os.makedirs(S); subprocess.run(["tar", "-xzf", O + "/store.tar.gz", "-C", S], check=True); S += "/store"
        if os.path.exists(S + "/lock"): os.remove(S + "/lock")
        damage(S, c); rc, o, e = compare.rl("forecast", S, "--version", v, "--format", "json", "--no-advice", *cfg)
        try: f = json.loads(o)
        except Exception: print(v, c, "forecast rc", rc, e.decode()[-300:]); f = None
        t = f"{W}/{c}-recovered.json"; q = subprocess.run(["unshare", "-n", "bash", "-c", 'ip link set lo up; exec "$@"', "x", "timeout", "90", "java", "-Xmx300m", "-XX:TieredStopAtLevel=1", *OPEN, "-Duser.timezone=UTC", "-cp", f"{C}:{B}/lib/{v}/*", "Recover", v, seed, W, t, S, "brokerRole=SLAVE"], capture_output=True)
        shutil.rmtree(f"{W}/{c}-recovered", ignore_errors=True)
        if not os.path.exists(t): print(v, c, "no real start", q.stderr[-300:]); continue
        r = json.load(open(t)); r.pop("state", None); json.dump(r, open(f"{O}/truth/starts/{c}.json", "w"), indent=0)
        if not f: continue
        fq = {f"{x['topic']}/{x['queue_id']}": [x["min_queue_offset"], x["max_queue_offset"]] for x in f["after_dispatch"]["queues"]} if f.get("after_dispatch") else {}
        bad = [(k, "real", x, "forecast", fq.get(k)) for k, x in (r.get("queues") or {}).items() if x[1] and fq.get(k) != x]; extra = [k for k, x in fq.items() if x[1] and not (r.get("queues") or {}).get(k, [0, 0])[1]]
        log = (r.get("minPhy"), r.get("maxPhy")) == (f["commitlog"]["min_physical_offset"], f["commitlog"]["max_physical_offset"])
        print(v, c, "OK" if log and not bad and not extra and r["load"] == f["load"]["ok"] else "DIFF", "load", r["load"], f["load"]["ok"], "log", (r.get("minPhy"), r.get("maxPhy")), (f["commitlog"]["min_physical_offset"], f["commitlog"]["max_physical_offset"]), "queues differ", len(bad), bad[:3], "extra", extra[:3]); sys.stdout.flush()
for v in sys.argv[2:]: main(sys.argv[1], v)
