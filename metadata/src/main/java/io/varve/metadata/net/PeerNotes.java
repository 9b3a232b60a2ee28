package io.varve.metadata.net;

import io.varve.metadata.raft.RaftPeerAddress;
import io.varve.protocol.config.ConfigFiles;
import io.varve.protocol.runtime.DurableText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a node remembers of the others across its restarts: who the members are, and up to which entry each of them had stored the log. A member that comes back with less has an older copy of its directory, has forgotten what it
 * helped to commit, and must not vote: whoever remembers can tell it so. Safe for any thread.
 *
 * <p>A line for each member: {@code member.ID=HOST RAFT_PORT CLIENT_PORT STORED_INDEX}. Losing the file loses a safeguard, nothing else.
 */
public final class PeerNotes {

    private static final Logger LOG = LoggerFactory.getLogger(PeerNotes.class);
    private static final String PREFIX = "member.";

    private final Path file;
    private SortedMap<Integer, Note> notes;

    private record Note(RaftPeerAddress address, long storedIndex) {}

    private PeerNotes(Path file, SortedMap<Integer, Note> notes) {
        this.file = file;
        this.notes = notes;
    }

    /** What is noted in a file, which need not exist. */
    public static PeerNotes read(Path file) {
        SortedMap<Integer, Note> notes = new TreeMap<>();
        try {
            if (Files.exists(file)) {
                ConfigFiles.parse(file.toString(), Files.readString(file)).forEach((key, value) -> {
                    String[] words = value.split(" ");
                    int id = Integer.parseInt(key.substring(PREFIX.length()));
                    notes.put(
                            id,
                            new Note(
                                    new RaftPeerAddress(
                                            id, words[0], Integer.parseInt(words[1]), Integer.parseInt(words[2])),
                                    Long.parseLong(words[3])));
                });
            }
        } catch (IOException | RuntimeException damaged) {
            LOG.warn("event=peer_notes_unreadable file={} reason=\"{}\"", file, damaged.toString());
            notes.clear();
        }
        return new PeerNotes(file, notes);
    }

    /** Up to which entry a member had stored the log; -1 if nothing is known of it. */
    public synchronized long storedIndex(int id) {
        Note note = notes.get(id);
        return note == null ? -1 : note.storedIndex();
    }

    /** The members as they were last known. */
    public synchronized List<RaftPeerAddress> members() {
        return notes.values().stream().map(Note::address).toList();
    }

    /**
     * Notes how it stands, durably if anything changed. Forgets who is no member any longer: it comes back with an empty directory, if at all.
     *
     * @param stored as in {@link io.varve.metadata.raft.RaftNode#storedIndexes}
     */
    public synchronized void update(List<RaftPeerAddress> members, Map<Integer, Long> stored) throws IOException {
        SortedMap<Integer, Note> now = new TreeMap<>();
        for (RaftPeerAddress member : members) {
            int id = member.nodeId();
            now.put(id, new Note(member, Math.max(storedIndex(id), stored.getOrDefault(id, -1L))));
        }
        if (!now.equals(notes)) {
            StringBuilder text = new StringBuilder();
            now.forEach((id, note) -> text.append(PREFIX)
                    .append(id)
                    .append('=')
                    .append(note.address().host())
                    .append(' ')
                    .append(note.address().raftPort())
                    .append(' ')
                    .append(note.address().clientPort())
                    .append(' ')
                    .append(note.storedIndex())
                    .append('\n'));
            DurableText.write(file, text.toString());
            notes = now;
        }
    }
}
