import io.openmessaging.storage.dledger.DLedgerConfig;
import io.openmessaging.storage.dledger.MemberState;
import io.openmessaging.storage.dledger.store.file.DLedgerMmapFileStore;
import java.io.BufferedReader;
import java.io.InputStreamReader;

/** For each line `folder dataFileSize indexFileSize`: what DLedger's own recovery makes of the node in it. */
public class Recover {
    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] asked = line.split(" ");
            DLedgerConfig config = new DLedgerConfig();
            config.setStoreBaseDir(asked[0]);
            config.setSelfId("n0");
            config.setGroup("g");
            config.setPeers("n0-127.0.0.1:40911");
            config.setMappedFileSizeForEntryData(Integer.parseInt(asked[1]));
            config.setMappedFileSizeForEntryIndex(Integer.parseInt(asked[2]));
            String said;
            try {
                DLedgerMmapFileStore store = new DLedgerMmapFileStore(config, new MemberState(config));
                store.load();
                store.recover();
                said = String.valueOf(store.getWritePos());
            } catch (Throwable thrown) {
                said = "refused";
            }
            System.out.println("RESULT " + said);
            System.out.flush();
        }
        System.exit(0);
    }
}
