// SPDX-License-Identifier: GPL-2.0-or-later
// LatencyServer MIB - a server for tests/bench/latency.py: a table with this much data, and
// one answer per byte that a client sends. Each request reads the table and makes garbage.
// Prints "port N".
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.HashMap;
import java.util.Map;

public class LatencyServer {
    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[0]) * 1024;
        Map<Integer, byte[]> table = new HashMap<>();
        for (int i = 0; i < count; i++)
            table.put(i, new byte[1000]);
        ServerSocket server = new ServerSocket(0, 16, InetAddress.getLoopbackAddress());
        System.out.println("port " + server.getLocalPort());
        System.out.flush();
        Socket client = server.accept();
        client.setTcpNoDelay(true);
        InputStream in = client.getInputStream();
        OutputStream out = client.getOutputStream();
        int next = 1;
        while (in.read() >= 0) {
            byte[] value = table.get(next % count).clone();
            value[0]++;
            table.put(next % count, value);
            next = next * 1103515245 + 12345 & 0x7fffffff;
            out.write(value[0]);
        }
    }
}
