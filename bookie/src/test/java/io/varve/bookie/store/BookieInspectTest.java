package io.varve.bookie.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.varve.base.SegmentId;
import io.varve.base.StartupException;
import io.varve.bookie.tools.BookieInspect;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What an operator sees of a stopped bookie's directory. */
class BookieInspectTest {

    @TempDir
    Path directory;

    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
    private final PrintStream out = new PrintStream(printed, true, StandardCharsets.UTF_8);

    @BeforeEach
    void fill() {
        try (StoreFixture it = StoreFixture.open(directory)) {
            it.create(1, 5, 0);
            it.appendMany(1, 5, 0, 50, 1000).forEach(StoreFixture::await);
            it.create(2, 6, 100);
            it.append(2, 6, 100, 7, 10);
            StoreFixture.await(it.store.seal(new SegmentId(2), 6, 107));
            it.fence(1, 7);
        }
    }

    private String text() {
        return printed.toString(StandardCharsets.UTF_8);
    }

    private Path journal() {
        return directory.resolve("journal/0000000000000001.journal");
    }

    /** Changes four bytes of the payload at offset 20 of segment 1. */
    private void damage() throws IOException {
        byte[] start = new byte[16];
        ByteBuf payload = StoreFixture.payload(1, 20, 1000);
        payload.readBytes(start).release();
        byte[] bytes = Files.readAllBytes(journal());
        int at = 0;
        while (!Arrays.equals(bytes, at, at + 16, start, 0, 16)) {
            at++;
        }
        try (FileChannel file = FileChannel.open(journal(), StandardOpenOption.WRITE)) {
            file.write(ByteBuffer.wrap(new byte[] {1, 2, 3, 4}), at + 100);
        }
    }

    @Test
    void inspectShowsIdentityFencesAndReplicas() throws IOException {
        assertThat(BookieInspect.inspect(directory, out)).isZero();
        assertThat(text()).contains("test-cluster").contains("bookie       7").contains("epoch 7");
        assertThat(text().lines().filter(line -> line.endsWith("INTACT"))).hasSize(2);
        assertThat(text()).containsPattern("2 .*6 +100 +107 +100 +107 ");
    }

    @Test
    void verifyFindsDamage() throws IOException {
        assertThat(BookieInspect.verify(directory, out)).isZero();
        assertThat(text()).contains("2 replicas").contains("all intact");
        damage();
        assertThat(BookieInspect.verify(directory, out)).isOne();
    }

    @Test
    void dumpShowsEveryRecordAndWhereItBreaks() throws IOException {
        assertThat(BookieInspect.dump(journal(), out)).isZero();
        assertThat(text().lines().filter(line -> line.contains(" ENTRY"))).hasSize(51);
        assertThat(text()).contains("CREATE").contains("FENCE").contains("SEAL").contains("MARK");
        damage();
        assertThat(BookieInspect.dump(journal(), out)).isOne();
    }

    @Test
    void lookingChangesNothing() throws IOException {
        BookieInspect.inspect(directory, out);
        BookieInspect.verify(directory, out);
        try (StoreFixture it = StoreFixture.open(directory)) {
            assertThat(it.readAll(1, 0, 5000)).isEqualTo(50);
        }
    }

    @Test
    void whatIsNoFileCannotBeDumped() {
        assertThatThrownBy(() -> BookieInspect.dump(directory.resolve("journal"), out))
                .isInstanceOf(StartupException.class)
                .hasMessageContaining("is not a file");
        assertThatThrownBy(() -> BookieInspect.dump(directory.resolve("0000000000000099.journal"), out))
                .isInstanceOf(StartupException.class)
                .hasMessageContaining("is not a file");
    }

    @Test
    void aDirectoryThatIsNoBookiesIsRefusedInOneLine() {
        assertThatThrownBy(() -> BookieInspect.inspect(directory.resolve("journal"), out))
                .isInstanceOf(StartupException.class)
                .hasMessageContaining("no cookie");
    }
}
