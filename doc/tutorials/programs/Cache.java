import java.util.HashMap;
import java.util.Map;

/** A cache of 64 MiB in a Java heap that may grow to 256 MiB. */
public class Cache {
    public static void main(String[] args) throws InterruptedException {
        Map<Integer, byte[]> cache = new HashMap<>();
        for (int i = 0; i < 1024; i++)
            cache.put(i, new byte[64 << 10]);
        System.out.println("ready");
        Thread.sleep(600_000);
        System.out.println(cache.size());
    }
}
