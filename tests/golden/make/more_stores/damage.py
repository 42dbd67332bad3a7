"""What was done to the copies of the old clean stores that `starts.py` started. Not ours to polish: the truth was made with it."""
import os, shutil, struct
def damage(S, case):
    logs = sorted(os.listdir(S + "/commitlog")); open_ = lambda f: open(f, "r+b")
    if "abort" in case: open(S + "/abort", "w").close()
    if "noqueues" in case: shutil.rmtree(S + "/consumequeue")
    if "noindex" in case: shutil.rmtree(S + "/index")
    if "nocheckpoint" in case: os.remove(S + "/checkpoint")
    if "tail" in case or "crc" in case:
        f = None
        for n in logs:  # last file that holds anything
            if open(f"{S}/commitlog/{n}", "rb").read(4) != bytes(4): f = f"{S}/commitlog/{n}"
        d = bytearray(open(f, "rb").read()); at = 0; recs = []
        while at + 8 <= len(d):
            s, m = struct.unpack(">ii", d[at:at + 8])
            if s <= 0 or m == -875286124: break
            recs.append((at, s)); at += s
        if "tail" in case: p, s = recs[-20]; d[p:] = bytes(len(d) - p)
        else: p, s = recs[-30]; d[p + 88] ^= 0xFF
        open(f, "wb").write(d)
    if "shortq" in case:  # the largest queue file loses its second half
        big = max((os.path.join(r, f) for r, _, fs in os.walk(S + "/consumequeue") for f in fs), key=lambda p: sum(1 for b in open(p, "rb").read() if b))
        d = bytearray(open(big, "rb").read()); h = len(d) // 40 * 20; d[h:] = bytes(len(d) - h); open(big, "wb").write(d)
