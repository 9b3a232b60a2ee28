package io.varve.metadata.server;

import io.varve.base.StartupException;
import io.varve.protocol.config.ConfigFiles;
import io.varve.protocol.runtime.DurableText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/**
 * Says in a data directory whose it is (I-13): the node, the cluster's name, and the cluster's id once that is known. A directory of another node or cluster is refused, for a log in wrong hands
 * is two logs.
 */
final class NodeCookie {

    private static final String FILE = "cookie";
    private static final String FORMAT = "1";

    private final Path file;
    private final int nodeId;
    private final String clusterName;
    private String clusterId;

    private NodeCookie(Path file, int nodeId, String clusterName, String clusterId) {
        this.file = file;
        this.nodeId = nodeId;
        this.clusterName = clusterName;
        this.clusterId = clusterId;
    }

    /**
     * Reads a directory's cookie, or puts one into a directory that has none.
     *
     * @throws StartupException DIRECTORY_FOREIGN or DISK
     */
    static NodeCookie check(Path directory, int nodeId, String clusterName) {
        Path file = directory.resolve(FILE);
        try {
            if (!Files.exists(file)) {
                if (Files.exists(directory.resolve("raft"))) {
                    throw foreign(directory, "it has a log and no cookie");
                }
                NodeCookie fresh = new NodeCookie(file, nodeId, clusterName, "");
                fresh.write();
                return fresh;
            }
            Map<String, String> values = ConfigFiles.parse(file.toString(), Files.readString(file));
            require(directory, "format", FORMAT, values);
            require(directory, "node.id", Integer.toString(nodeId), values);
            require(directory, "cluster.name", clusterName, values);
            return new NodeCookie(file, nodeId, clusterName, values.getOrDefault("cluster.id", ""));
        } catch (IOException trouble) {
            throw new StartupException(
                    StartupException.Reason.DISK, "Can't use the cookie " + file + ": " + trouble, trouble);
        }
    }

    private static void require(Path directory, String key, String expected, Map<String, String> values) {
        if (!expected.equals(values.get(key))) {
            throw foreign(directory, "its cookie says " + key + "=" + values.get(key) + ", not " + expected);
        }
    }

    private static StartupException foreign(Path directory, String why) {
        return new StartupException(
                StartupException.Reason.DIRECTORY_FOREIGN,
                "The data directory " + directory + " is not this node's: " + why);
    }

    /** The cluster's id as this directory knows it; empty before it learned of it. */
    synchronized String clusterId() {
        return clusterId;
    }

    /**
     * The log says which cluster this is.
     *
     * @return whether the directory has always been that cluster's
     */
    synchronized boolean belongsTo(String id) throws IOException {
        if (clusterId.isEmpty()) {
            clusterId = id;
            write();
        }
        return clusterId.equals(id);
    }

    private void write() throws IOException {
        String text = "format=" + FORMAT + "\nnode.id=" + nodeId + "\ncluster.name=" + clusterName + "\n"
                + (clusterId.isEmpty() ? "" : "cluster.id=" + clusterId + "\n");
        DurableText.write(file, text);
    }
}
